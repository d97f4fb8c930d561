# The app for others, over broker directories that are mounted at /data and only read:
#   docker build -t kafkaviz .
#   docker run --read-only --tmpfs /tmp:exec -v /var/lib/kafka:/data:ro -p 127.0.0.1:8501:8501 kafkaviz
FROM python:3.13-slim AS build
WORKDIR /src
# what is installed changes less often than the code does
COPY requirements.lock ./
RUN python -m venv /opt/kafkaviz \
    && grep -v '^-e ' requirements.lock > packages.txt \
    && /opt/kafkaviz/bin/pip install --no-cache-dir --disable-pip-version-check -r packages.txt
COPY pyproject.toml hatch_build.py README.md LICENSE app.py ./
COPY distributions/spark distributions/spark
COPY .streamlit .streamlit
COPY pages pages
COPY sample_data sample_data
COPY kafkaviz kafkaviz
RUN /opt/kafkaviz/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps .

FROM python:3.13-slim
# its home is the only folder that is written: unpacked archives, catalogs, compiled loops
RUN useradd --uid 10001 --create-home --home-dir /var/cache/kafkaviz kafkaviz && mkdir /data
COPY --from=build /opt/kafkaviz /opt/kafkaviz
ENV PATH=/opt/kafkaviz/bin:$PATH \
    HOME=/var/cache/kafkaviz \
    KAFKAVIZ_CACHE=/var/cache/kafkaviz \
    NUMBA_CACHE_DIR=/var/cache/kafkaviz/numba \
    PYTHONDONTWRITEBYTECODE=1 \
    STREAMLIT_SERVER_HEADLESS=true
USER 10001
WORKDIR /var/cache/kafkaviz
VOLUME /var/cache/kafkaviz
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
# nothing outside of /data is opened, whatever stands behind this
ENTRYPOINT ["kafkaviz", "app", "--host", "0.0.0.0", "--port", "8501", "--allow-root", "/data"]
CMD ["/data"]
