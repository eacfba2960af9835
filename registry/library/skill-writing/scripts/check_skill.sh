#!/bin/sh
# Check the directory of one skill. Prints a sentence per problem; exit status 0 none, 1 some, 2 wrong use.

case "${1:-}" in
  ""|-h|--help)
    echo "usage: sh check_skill.sh path/to/skill"
    echo "Checks name, description, relative links and unlinked files of one skill."
    [ -n "${1:-}" ] && exit 0
    exit 2 ;;
esac

cd -- "$1" 2>/dev/null || { echo "$1 is not a directory." >&2; exit 2; }
problems=0
problem() { echo "$1"; problems=$((problems + 1)); }
finish() { echo "$problems problems"; [ "$problems" -eq 0 ] && exit 0; exit 1; }

[ -f SKILL.md ] || { problem "SKILL.md is missing."; finish; }

front=$(awk 'NR == 1 { if ($0 != "---") exit; next } $0 == "---" { exit } { print }' SKILL.md)
[ -n "$front" ] || problem "SKILL.md must begin with a line of three hyphens, fields, and such a line again."

field() { printf '%s\n' "$front" | sed -n "s/^$1:[[:space:]]*//p" | head -n 1; }

name=$(field name)
directory=$(basename "$(pwd)")
printf '%s\n' "$name" | LC_ALL=C grep -Eq '^[a-z0-9]+(-[a-z0-9]+)*$' ||
  problem "The name \"$name\" must be lower-case letters and digits, joined by single hyphens."
[ "$name" = "$directory" ] || problem "The name is \"$name\", but the directory is \"$directory\"."

description=$(field description)
case $description in
  \"*\") ;;
  *) problem "The description must stand in double quotes on one line." ;;
esac
length=$(printf '%s' "$description" | sed 's/^"//; s/"$//' | wc -m)
length=$((length))
[ "$length" -ge 80 ] || problem "The description has $length characters; 80 is the least that says what and when."
[ "$length" -le 1024 ] || problem "The description has $length characters; 1024 are allowed."
case $description in
  *"<"*|*">"*|*---*) problem "The description must not contain angle brackets or three hyphens in a row." ;;
esac

# Links of the form ](path), without code blocks, addresses and anchors.
links=$(awk '/^ *```/ { fenced = !fenced } !fenced' SKILL.md | grep -o '](\([^)]*\))' |
  sed 's/^](//; s/)$//; s/#.*//' | grep -v '^[a-z]*:' | grep -v '^$' | sort -u)
while IFS= read -r link; do
  [ -z "$link" ] || [ -e "$link" ] || problem "SKILL.md links to $link, which does not exist."
done <<END
$links
END

while IFS= read -r file; do
  [ -z "$file" ] || grep -Fq -- "$file" SKILL.md || problem "Nothing in SKILL.md mentions $file."
done <<END
$(find . -type f ! -name SKILL.md | sed 's|^\./||' | sort)
END

finish
