# The page in a container:
#
#   docker build -t fourlab .
#   docker run --rm -p 127.0.0.1:8000:8000 -v fourlab-runs:/data/runs fourlab
#
# It answers whoever reaches the port, so publish it to this machine only (127.0.0.1 above), or set
# a token: docs/how-to/serve-many-players.md.

FROM python:3.13-slim-bookworm AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim-bookworm
# A user without rights; /data is all that it may write to.
RUN useradd --create-home --uid 1000 fourlab \
    && mkdir -p /data/runs /data/cache \
    && chown -R fourlab:fourlab /data
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-compile /wheels/*.whl && rm -r /wheels
USER 1000:1000
WORKDIR /data
ENV FOURLAB_CACHE_DIR=/data/cache \
    FOURLAB_RUNS=/data/runs \
    PYTHONUNBUFFERED=1
# Kernels are compiled for the processor of the machine that runs the container, at its first start.
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/')"]
ENTRYPOINT ["fourlab"]
CMD ["web", "--no-browser", "--host", "0.0.0.0", "--port", "8000", "--public"]
