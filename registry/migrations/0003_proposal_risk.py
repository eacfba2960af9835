"""What a reviewer is told first about a proposal: rows from before count as high until they are revised."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("registry", "0002_proposals")]

    operations = [
        migrations.AddField(
            model_name="proposal",
            name="risk",
            field=models.CharField(
                choices=[("low", "low"), ("medium", "medium"), ("high", "high")], default="high", max_length=8
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="proposal", name="tokens", field=models.IntegerField(default=0), preserve_default=False
        ),
    ]
