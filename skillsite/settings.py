"""Django settings, read from environment variables. `docs/operating.md` lists the variables."""

import os
from pathlib import Path

import dj_database_url
from corsheaders.defaults import default_headers
from django.core.exceptions import ImproperlyConfigured

from registry.core.limits import MIB, Limits
from skillsite import env, logs
from skillsite.routing_settings import *  # noqa: F403
from skillsite.workflow_settings import *  # noqa: F403

BASE_DIR = Path(__file__).resolve().parent.parent

DEBUG = env.boolean("DEBUG", False)
PORT = env.integer("PORT", 8000, least=1, most=65_535)
SKILLSITE_DATA = env.private_directory("SKILLSITE_DATA", BASE_DIR / "var")
PERSISTENT_VOLUME_STORAGE = Path(env.text("PERSISTENT_VOLUME_STORAGE") or SKILLSITE_DATA / "volume")

DATABASE_URL = env.text("DATABASE_URL")
SECRET_KEY = env.text("SECRET_KEY")
if not SECRET_KEY:
    if DATABASE_URL:
        raise ImproperlyConfigured(
            "SECRET_KEY is not set. It is required with DATABASE_URL, because all machines of a site must use the same "
            "key. Set SECRET_KEY or SECRET_KEY_FILE to 50 or more random characters."
        )
    SECRET_KEY = env.kept_secret(SKILLSITE_DATA / "secret_key")
# All machines of a site must use the same key, so the file of one machine does not help with DATABASE_URL.
AUDIT_KEY = env.text("AUDIT_KEY") or (
    env.derived_secret(SECRET_KEY, "audit seals") if DATABASE_URL else env.kept_secret(SKILLSITE_DATA / "audit_key")
)
AUDIT_HEADS_FILE = SKILLSITE_DATA / "audit_heads.jsonl"

ALLOWED_HOSTS = env.items("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env.items("CSRF_TRUSTED_ORIGINS")
PUBLIC_URL = env.text("PUBLIC_URL", f"http://localhost:{PORT}").rstrip("/")

# `serve` passes the values of its options to the web processes through these variables.
WEB_WORKERS = env.integer("WEB_WORKERS", 1, least=1)
WEB_THREADS = env.integer("WEB_THREADS", 4, least=1)
SLOW_CLIENT_SECONDS = env.integer("SLOW_CLIENT_SECONDS", 15, least=1, most=60)

# -- Skills ------------------------------------------------------------------------------------------------

AGENT_SKILLS_DIRS = [
    Path(item) for item in env.items("AGENT_SKILLS_DIRS", str(BASE_DIR / "registry" / "library"), separator=os.pathsep)
]
# The order decides which project wins a name at the root of the site.
PUBLIC_ROOT_PROJECTS = env.items("PUBLIC_ROOT_PROJECTS")
SKILLS_RELOAD_SECONDS = env.integer("SKILLS_RELOAD_SECONDS", 5)
SKILLS_FETCH_ALLOW_HOSTS = env.items("SKILLS_FETCH_ALLOW_HOSTS")
SKILLS_S3_BUCKETS = env.items("SKILLS_S3_BUCKETS")
RESOLVE_THREADS = env.integer("RESOLVE_THREADS", 16, least=2)
RESOLVE_DOWNLOADS = env.integer("RESOLVE_DOWNLOADS", 3, least=1)
RESOLVE_REQUEST_BYTES = env.integer("RESOLVE_REQUEST_BYTES", 200 * MIB, least=1)
RESOLVE_TOKEN_BYTES = env.integer("RESOLVE_TOKEN_BYTES", 512 * MIB, least=1)
RESOLVE_PROJECT_BYTES = env.integer("RESOLVE_PROJECT_BYTES", 2_048 * MIB, least=1)
RESOLVE_UNUSED_DAYS = env.integer("RESOLVE_UNUSED_DAYS", 30, least=1)
_defaults = Limits()
LIMITS = Limits(
    archive_bytes=env.integer("LIMIT_ARCHIVE_BYTES", _defaults.archive_bytes, least=1),
    expanded_bytes=env.integer("LIMIT_EXPANDED_BYTES", _defaults.expanded_bytes, least=1),
    files=env.integer("LIMIT_FILES", _defaults.files, least=1),
    file_bytes=env.integer("LIMIT_FILE_BYTES", _defaults.file_bytes, least=1),
    text_read_bytes=env.integer("LIMIT_TEXT_READ_BYTES", _defaults.text_read_bytes, least=1),
    soft_tokens=env.integer("LIMIT_SOFT_TOKENS", _defaults.soft_tokens, least=1),
    loud_tokens=env.integer("LIMIT_LOUD_TOKENS", _defaults.loud_tokens, least=1),
)
RATE_LIMIT_READ = env.integer("RATE_LIMIT_READ", 6_000)
RATE_LIMIT_WRITE = env.integer("RATE_LIMIT_WRITE", 600)
RATE_LIMIT_PUBLIC = env.integer("RATE_LIMIT_PUBLIC", 600)
OPEN_PROPOSALS_PER_AGENT = env.integer("OPEN_PROPOSALS_PER_AGENT", 20, least=1)
OPEN_PROPOSALS_PER_PERSON = env.integer("OPEN_PROPOSALS_PER_PERSON", 100, least=1)
PROPOSALS_PER_HOUR = env.integer("PROPOSALS_PER_HOUR", 100)
USAGE_FLUSH_SECONDS = env.integer("USAGE_FLUSH_SECONDS", 10, least=1)

# -- Django ------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "corsheaders",
    "django_htmx",
    "django_tasks",
    "django_tasks_db",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "registry",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "registry.web.middleware.SecurityHeaders",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "registry.web.health.Probes",
    "corsheaders.middleware.CorsMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "registry.web.middleware.Errors",
]

ROOT_URLCONF = "skillsite.urls"
WSGI_APPLICATION = "skillsite.wsgi.application"
APPEND_SLASH = False
AUTH_USER_MODEL = "registry.User"
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "projects"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "registry.web.navigation.shell",
            ],
        },
    },
]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# -- Data --------------------------------------------------------------------------------------------------

SQLITE_FILE = SKILLSITE_DATA / "skillsite.sqlite3"
_SQLITE = {
    "ENGINE": "django.db.backends.sqlite3",
    "NAME": SQLITE_FILE,
    "CONN_MAX_AGE": None,
    "OPTIONS": {
        # Take the write lock when a transaction starts. Otherwise a transaction that has read can fail when it
        # writes. Readers never wait in WAL mode.
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA cache_size=-32000; PRAGMA temp_store=MEMORY;",
    },
}
try:
    _database = (
        dj_database_url.parse(DATABASE_URL, conn_max_age=600, conn_health_checks=True) if DATABASE_URL else _SQLITE
    )
except ValueError as error:
    raise ImproperlyConfigured(f"DATABASE_URL is not valid: {error}.") from error
if _database["ENGINE"] not in (_SQLITE["ENGINE"], "django.db.backends.postgresql"):
    raise ImproperlyConfigured(
        "DATABASE_URL is not the URL of a PostgreSQL database. It must start with postgresql://."
    )
# Every SQLite file needs our options: without them, concurrent writes fail.
DATABASES = {
    "default": {**_SQLITE, "NAME": _database["NAME"]} if _database["ENGINE"] == _SQLITE["ENGINE"] else _database
}

if not DATABASE_URL and SQLITE_FILE.exists():
    env.private_file(SQLITE_FILE)
SKILL_SCANNER = env.text("SKILL_SCANNER")  # a program for the deep pass of the security scan; off if empty
S3_BUCKET = env.text("S3_BUCKET")
S3_ENDPOINT_URL = env.text("S3_ENDPOINT_URL")
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "blobs": {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": S3_BUCKET,
            "endpoint_url": S3_ENDPOINT_URL or None,
            "location": env.text("S3_PREFIX", "blobs"),
            "default_acl": None,
            "file_overwrite": True,
        },
    }
    if S3_BUCKET
    else {
        "BACKEND": "registry.services.files.atomic_storage.AtomicFileStorage",
        "OPTIONS": {
            "location": SKILLSITE_DATA / "blobs",
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    },
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

REDIS_URL = env.text("REDIS_URL")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        # Redis only holds counters, which are not worth waiting for.
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
    }
    if REDIS_URL
    else {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    },
}
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}

# -- Files and uploads (in memory and with a limit, so that nothing stays on disk) ---------------------------

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_ALLOW_ALL_ORIGINS = False
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
FILE_UPLOAD_MAX_MEMORY_SIZE = LIMITS.archive_bytes + 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
DATA_UPLOAD_MAX_NUMBER_FILES = LIMITS.files + 100

# -- Security ----------------------------------------------------------------------------------------------

HTTPS = env.boolean("HTTPS", PUBLIC_URL.startswith("https://"))
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
# Browsers accept a cookie with this prefix only from this host, over HTTPS and for all paths.
_COOKIE_PREFIX = "__Host-" if HTTPS else ""
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{_COOKIE_PREFIX}sessionid", f"{_COOKIE_PREFIX}csrftoken"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = env.integer("HSTS_SECONDS", 365 * 24 * 3_600 if HTTPS else 0)
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "skillsite.errors.csrf_failure"
BEHIND_PROXY = env.boolean("BEHIND_PROXY", False)
if BEHIND_PROXY:
    # Without a proxy that sets these headers, any client could forge them.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    USE_X_FORWARDED_HOST = True
CORS_ALLOWED_ORIGINS = env.items("CORS_ALLOWED_ORIGINS")
CORS_URLS_REGEX = r"^/(api/|mcp$|t/[^/]+/mcp$)"
CORS_ALLOW_HEADERS = [*default_headers, "if-match", "if-none-match", "mcp-protocol-version", "mcp-method", "mcp-name"]
CORS_EXPOSE_HEADERS = ["ETag", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]

# -- Email (printed by the worker if there is no mail server) ------------------------------------------------

EMAIL_HOST = env.text("EMAIL_HOST")
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'console'}.EmailBackend"
EMAIL_USE_SSL = env.boolean("EMAIL_USE_SSL", False)
EMAIL_USE_TLS = env.boolean("EMAIL_USE_TLS", False)
if EMAIL_USE_SSL and EMAIL_USE_TLS:
    raise ImproperlyConfigured("EMAIL_USE_SSL and EMAIL_USE_TLS are both on. Turn one of them off.")
EMAIL_PORT = env.integer("EMAIL_PORT", 465 if EMAIL_USE_SSL else 587 if EMAIL_USE_TLS else 25, least=1)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD")
EMAIL_TIMEOUT = env.integer("EMAIL_TIMEOUT", 10, least=1)
EMAIL_PAUSE_SECONDS = env.integer("EMAIL_PAUSE_SECONDS", 300)
DEFAULT_FROM_EMAIL = env.text("EMAIL_FROM", "Skillsite <skillsite@localhost>")

# -- API ---------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["registry.api.authentication.BearerToken"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "registry.api.openapi.Schema",
    "EXCEPTION_HANDLER": "registry.api.problems.exception_handler",
    "URL_FORMAT_OVERRIDE": None,
    "UNAUTHENTICATED_USER": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Skillsite API",
    "DESCRIPTION": "Agents load skills on demand. People and programs with a token create, propose and review them.",
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": "/api",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "ImportAction": ["create", "override", "new-version", "unchanged"],
        "ProposalKind": ["create", "update", "delete"],
        "ProposalState": ["open", "changes-requested", "stale", "approved", "rejected", "withdrawn"],
        "SourceKind": ["url", "well-known", "clawhub", "git"],
        "SourceState": ["new", "ready", "empty", "unreachable", "unusable"],
        "JobKind": ["look", "import", "update"],
        "JobState": ["queued", "running", "done", "failed"],
        "ChangeStatus": ["added", "removed", "changed", "renamed"],
        "TrustEnum": "registry.core.roles.TRUST_LEVELS",
        "RunState": "registry.api.run_answers.RUN_STATES",
        "RunStepState": "registry.api.run_answers.STEP_STATES",
        "RunQuestionKind": "registry.api.run_answers.QUESTION_KINDS",
        "RunQuestionState": "registry.models.workflows.QUESTION_STATES",
        "ScanStatus": ["findings", "none", "partial", "failed"],
        "CategoryEnum": ["format", "quality", "security"],
        "VerdictEnum": ["approve", "reject"],
        "GoldenCategory": ["positive", "near-miss", "negative"],
        "GateVerdict": ["pass", "fail", "no verdict"],
        "CaseVerdict": [
            "correct_trigger",
            "true_negative",
            "missed_trigger",
            "wrong_skill",
            "false_trigger",
            "error",
            "acceptable",
        ],
    },
}

LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"))
LOGGING = logs.configuration(LOG_LEVEL)
