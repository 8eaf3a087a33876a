# The bot in a container: docker compose up --build (see docs/run.md).

FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md ./
COPY bot ./bot
# Without pip, so that what runs has nothing to install more with.
RUN python -m venv --without-pip /opt/parley \
    && pip --python /opt/parley/bin/python install --no-cache-dir --disable-pip-version-check \
        -c constraints.txt '.[mcp,metrics,postgres]'

FROM python:3.12-slim
RUN groupadd --gid 10001 parley \
    && useradd --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin parley \
    && install --directory --owner=parley --group=parley --mode=0700 /data
COPY --from=build /opt/parley /opt/parley
ENV PATH=/opt/parley/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DATABASE=/data/parley.db \
    METRICS_PORT=9464
# The only place that is written to: all else may be read-only, but for /tmp.
VOLUME /data
WORKDIR /data
USER 10001:10001
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "-m", "bot", "check", "--health"]
ENTRYPOINT ["python", "-m", "bot"]
CMD ["run", "--log-format", "json"]
