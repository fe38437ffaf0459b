# One image for every role: web, live, worker, beat, migrate (docs/operations.md).
# Runs as an ordinary user on a read-only root with a writable /tmp.

FROM python:3.13-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /srv/xqmj
RUN python -m venv /opt/venv
COPY requirements.txt ./
# Wheels only: nothing is compiled, and nothing runs a package's own set-up code.
RUN /opt/venv/bin/pip install --require-hashes --only-binary :all: -r requirements.txt
COPY manage.py ./
COPY xqmj_site ./xqmj_site
COPY matches ./matches
COPY ratings ./ratings
# Collecting needs settings, none of them real: they end with this instruction.
RUN /opt/venv/bin/python -m compileall -q xqmj_site matches ratings \
    && DJANGO_SETTINGS_MODULE=xqmj_site.settings.prod SECRET_KEY=build ALLOWED_HOSTS=build \
       DATABASE_URL=postgresql:///build REDIS_URL=redis://build \
       XQMJ_SEAL_KEYS=build:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= \
       /opt/venv/bin/python manage.py collectstatic --no-input

FROM python:3.13-slim-bookworm
# The image's own package tools are of no use to a server.
RUN rm -rf /usr/local/lib/python3.13/site-packages/pip* \
    && groupadd --system --gid 10001 xqmj \
    && useradd --system --uid 10001 --gid xqmj --no-create-home --shell /usr/sbin/nologin xqmj
COPY --from=build /opt/venv /opt/venv
COPY --from=build /srv/xqmj /srv/xqmj
WORKDIR /srv/xqmj
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=xqmj_site.settings.prod \
    HOST=0.0.0.0 \
    PORT=8000 \
    LIVE_PORT=8001 \
    XQMJ_METRICS_HOST=0.0.0.0
USER 10001:10001
EXPOSE 8000 8001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-m", "xqmj_site.probe"]
ENTRYPOINT ["python", "-m", "xqmj_site.roles"]
CMD ["web"]
