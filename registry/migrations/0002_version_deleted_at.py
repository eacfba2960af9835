"""Record which versions ended with a deletion of their skill, so that none of them is served again by itself.

The audit log says when skills were deleted and restored. This migration replays it for existing versions. If agents
get a deleted version now, they get the newest other one, or none.
"""

from typing import Any

from django.db import migrations, models


def replay_deletions(apps: Any, schema_editor: Any) -> None:
    Event, Skill = apps.get_model("registry", "Event"), apps.get_model("registry", "Skill")
    deletions = Event.objects.filter(after="").exclude(before="").exclude(verb="version.yanked")
    deleted = set(deletions.exclude(chain__project=None).values_list("chain__project_id", "target").distinct())
    for project_id, name in sorted(deleted):
        skill = Skill.objects.filter(project_id=project_id, name=name).first()
        if skill is None or not skill.versions.exists():
            continue
        last = None
        for event in Event.objects.filter(chain__project_id=project_id, target=name).order_by("sequence"):
            if event.before and not event.after and event.verb != "version.yanked":
                skill.versions.filter(deleted_at=None, created_at__lte=event.at).update(deleted_at=event.at)
                last = event.at
            elif event.verb == "skill.undeleted":
                skill.versions.filter(deleted_at=last).update(deleted_at=None)
            elif event.after and "version" in event.data:
                skill.versions.filter(version=event.data["version"]).update(deleted_at=None)
        remaining = skill.versions.filter(deleted_at=None)
        if skill.overrides and not remaining.filter(pk=skill.current_id).exists():
            # A yank made a deleted version current again, and agents got it until now.
            skill.current = remaining.filter(yanked_at=None).order_by("-pk").first()
            skill.save(update_fields=["current"])


class Migration(migrations.Migration):
    dependencies = [("registry", "0001_initial")]

    operations = [
        migrations.AddField("version", "deleted_at", models.DateTimeField(null=True)),
        migrations.RunPython(replay_deletions, migrations.RunPython.noop),
    ]
