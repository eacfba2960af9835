"""Words that say little about what somebody asks for."""

# They never count. Some are of other languages, without those that are also English words of meaning.
FUNCTION_WORDS = """
a about above after again all also am an and any are as at be because been before being below between both but by
can cannot could did do does doing don done down during each few for from further get gets got had has have having he
her here hers him his how i if in into is it its itself just let lets like ll me might more most much my myself no nor
not now of off on once only or other our ours out over own please re s same shall she should so some such t than that
the their them then there these they this those through to too under until up us very was we were what when where
which while who whom why will with would you your yours ve d m
der das und ist ein eine einen einem mit fur wie ich nicht wir ihr sie von dem den zu im auf
le les une est et du que qui je nous vous dans sur avec por los las una para como con del
"""

# Words of asking. They count, but little: almost every question has them.
ASKING = """
help want need use using used user make way know tell show give try best good new thing
"""
