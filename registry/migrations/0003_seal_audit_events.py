from django.conf import settings
from django.db import migrations, models

from registry.core.audit.chain import event_seal, head_seal

_BATCH = 500


def seal(apps, schema_editor):
    """Seal the events that exist. Nothing is verified: the seals show that nothing changed since this migration."""
    # The base manager updates rows; the manager of the model refuses to.
    event_model = apps.get_model("registry", "Event")
    for chain in apps.get_model("registry", "Chain").objects.order_by("pk"):
        batch = []
        for event in event_model.objects.filter(chain=chain).only("sequence", "hash").order_by("sequence").iterator():
            event.seal = event_seal(settings.AUDIT_KEY, chain.name, event.sequence, event.hash)
            batch.append(event)
            if len(batch) == _BATCH:
                event_model._base_manager.bulk_update(batch, ["seal"])
                batch = []
        event_model._base_manager.bulk_update(batch, ["seal"])
        chain.seal = head_seal(settings.AUDIT_KEY, chain.name, chain.length, chain.head)
        chain.announced = chain.length
        chain.save(update_fields=["seal", "announced"])


class Migration(migrations.Migration):
    dependencies = [("registry", "0002_version_deleted_at")]

    operations = [
        migrations.AddField("chain", "seal", models.CharField(default="", max_length=64)),
        migrations.AddField("chain", "announced", models.PositiveBigIntegerField(default=0)),
        migrations.AddField("event", "seal", models.CharField(default="", max_length=64)),
        migrations.RunPython(seal, migrations.RunPython.noop),
    ]
