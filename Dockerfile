# One image for the web server and the worker. `docker-compose.yml` sets the command of each container.
FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 SKILLSITE_DATA=/data HOST=0.0.0.0
WORKDIR /app

# git is needed for sources that are git repositories.
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/*

COPY requirements/deploy.txt requirements/
RUN pip install --no-cache-dir --no-deps --require-hashes --requirement requirements/deploy.txt

COPY . .
RUN useradd --create-home --uid 10001 skillsite \
 && mkdir /data && chown skillsite /data \
 && SKILLSITE_DATA=/tmp/build python manage.py collectstatic --noinput --verbosity 0 && rm -rf /tmp/build \
 && chown -R skillsite staticfiles

USER skillsite
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --start-period=30s CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ.get(\"PORT\") or 8000}/healthz', timeout=3)"]
CMD ["python", "manage.py", "serve"]
