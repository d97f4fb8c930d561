# `make` lists what there is to do. The first target that needs Python packages installs them into .venv, and again when their lists change.

VENV := .venv
PYTHON_OF_VENV := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
COMPILED := $(VENV)/.compiled
PYTHONS := python3.13 python3.12 python3.11 python3.14 python3
UV := $(shell command -v uv 2>/dev/null)
CARGO := $(shell command -v cargo 2>/dev/null)
KAFKA_RELEASES := 3.9.1 4.3.1 4.4.0
NPM := $(shell command -v npm 2>/dev/null)
PIP := $(PYTHON_OF_VENV) -m pip install --quiet --disable-pip-version-check
INSTALL := PYTHONWARNINGS=ignore $(if $(UV),$(UV) pip install --quiet --compile-bytecode --python $(PYTHON_OF_VENV),$(PIP))

.DEFAULT_GOAL := help
.PHONY: help run test journeys nightly test-kafka lint bundles lessons take-away docs screenshots contact-sheet fuzz soak classroom visitors audit wheels bench bench-kafka

help: ## list what make can do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(INSTALLED) $(COMPILED) ## open the app on the sample broker; BROKER=path opens another, BROKER="a b c" the log directories of one, PORT=8600 listens there, LESSONS=folder adds lessons, CLASS=1 lets a class in
	@if [ -e "$(BROKER)" ]; then set -- "$(BROKER)"; else set -- $(BROKER); fi; \
	$(PYTHON_OF_VENV) -m kafkaviz app "$$@" $(if $(PORT),--port "$(PORT)") $(if $(LESSONS),--lessons "$(LESSONS)") $(if $(CLASS),--class)

# tests/conftest.py says which process gets which file
test: $(INSTALLED_DEV) $(COMPILED) ## run the quick tests in WORKERS=2 processes; SLOW=1 adds browsers, Spark and whole brokers, NIGHTLY=1 all
	@$(PYTHON_OF_VENV) -m pytest -q -n $(or $(WORKERS),2) --dist loadfile --no-loadscope-reorder \
	    -m "$(if $(NIGHTLY),,not nightly$(if $(SLOW),, and not slow and not browser and not spark))"

journeys: $(INSTALLED_DEV) $(COMPILED) ## walk through the six journeys in Chromium, and put a picture of each step into build/journeys
	@JOURNEYS=build/journeys $(PYTHON_OF_VENV) -m pytest -q tests/journeys/test_journeys.py

nightly: $(INSTALLED_DEV) ## all that is long or random: every test, an hour of damaged input, a server for long, 200 configurations
	@$(MAKE) test NIGHTLY=1
	@$(MAKE) fuzz MINUTES=60 SEED=$(or $(SEED),$$(date +%j))
	@$(MAKE) soak
	@$(MAKE) test-kafka CONFIGURATIONS=200 SEED=$(or $(SEED),$$(date +%j))

test-kafka: $(INSTALLED) $(COMPILED) ## hold the writer, loads and dumps to Kafka's own classes and to a broker, which Maven fetches; CONFIGURATIONS=200 from SEED=0 on
	@CONFIGURATIONS="$(CONFIGURATIONS)" SEED="$(SEED)" $(PYTHON_OF_VENV) -m tests.kafka

lint: $(INSTALLED_DEV) ## check the code and its form with ruff, its types with ty; the JavaScript with biome and tsc, where npm is
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check --quiet .
	@$(VENV)/bin/ty check --quiet --python $(VENV)
	@if [ -z "$(NPM)" ]; then echo "The JavaScript is not checked: that needs npm."; \
	elif ! $(MAKE) --no-print-directory node_modules/.installed; then echo "The JavaScript is not checked: npm could not install its tools."; \
	else $(NPM) run --silent check; fi

node_modules/.installed: package.json
	@$(NPM) install --no-package-lock --no-audit --no-fund --loglevel=error
	@touch $@

bundles: node_modules/.installed ## bundle the JavaScript of the components anew, which needs npm
	@$(NPM) run --silent bundle

lessons: $(INSTALLED) ## check the lessons of the Workshop, and those in LESSONS=folder; says file:line of what is wrong
	@$(PYTHON_OF_VENV) -m kafkaviz.workshop.lessons kafkaviz/workshop/lessons $(if $(LESSONS),"$(LESSONS)")

take-away: $(INSTALLED) ## write each lesson, the hand-outs and the notebook as files into OUT=folder; in LANGUAGE=en or zh
	@$(PYTHON_OF_VENV) -m kafkaviz.workshop.takeaway "$(or $(OUT),take-away)" --language "$(or $(LANGUAGE),en)"

docs: $(INSTALLED) ## write the pages of docs/ that are made from the code anew
	@$(PYTHON_OF_VENV) -m docs.reference

screenshots: $(INSTALLED_DEV) ## take the pictures of docs/tour.md, which needs Chromium; SHOTS="lookup rolls" takes two
	@$(PYTHON_OF_VENV) -m docs.screenshots $(SHOTS)

contact-sheet: $(INSTALLED_DEV) ## take every page, light and dark, English and Chinese, into build/contact-sheet; PAGES="lookup rolls" takes two
	@LOOK="$(LOOK)" $(PYTHON_OF_VENV) -m docs.contact_sheet $(PAGES)

fuzz: $(INSTALLED_DEV) ## feed every reader damaged input for MINUTES=10, SEED=1; CASE=n shows one again
	@MINUTES="$(MINUTES)" INPUTS="$(INPUTS)" SEED="$(SEED)" CASE="$(CASE)" $(PYTHON_OF_VENV) -m tests.fuzz

soak: $(INSTALLED_DEV) ## open DIRECTORIES=200 in turn in one server with Spark, and tell what it holds; half an hour
	@DIRECTORIES="$(DIRECTORIES)" $(PYTHON_OF_VENV) -m tests.soak

classroom: $(INSTALLED_DEV) $(COMPILED) ## lead SEATS=20 learners of one class through the short track, and tell what each step takes, and what the server holds
	@SEATS="$(SEATS)" STEPS="$(STEPS)" $(PYTHON_OF_VENV) -m tests.soak.classroom

visitors: $(INSTALLED_DEV) $(COMPILED) ## let VISITORS=20 click at once through all pages of one server, and tell how long each waits, and what the server holds
	@VISITORS="$(VISITORS)" $(PYTHON_OF_VENV) -m tests.soak.visitors

audit: | $(PYTHON_OF_VENV) ## hold requirements.lock to the known vulnerabilities, with a pip-audit that is thrown away; needs a network
	@folder="$$(mktemp -d)" && trap 'rm -rf "$$folder"' EXIT && grep -v '^-e ' requirements.lock > "$$folder/packages.txt" && \
	$(PYTHON_OF_VENV) -m venv "$$folder/venv" && "$$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check pip-audit && \
	"$$folder/venv/bin/pip-audit" --requirement "$$folder/packages.txt" --strict --no-deps --disable-pip --progress-spinner off

wheels: | $(PYTHON_OF_VENV) ## build kafkaviz-core and kafkaviz as wheels into OUT=dist; needs a package index
	@$(PYTHON_OF_VENV) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$(or $(OUT),dist)" . ./distributions/kafkaviz

bench: $(INSTALLED) ## measure, and print the tables of benchmarks/README.md; BENCH="walk" runs one
	@$(PYTHON_OF_VENV) -m benchmarks $(BENCH)

bench-kafka: $(INSTALLED) ## measure against Kafka's own tools too, which Maven fetches; needs mvn and java; where cargo is, against a Rust crate
	@for tool in mvn java; do command -v $$tool >/dev/null || { echo "make bench-kafka needs $$tool, and there is none here." >&2; exit 1; }; done
	@mvn -q -f benchmarks/kafka-tools.pom.xml dependency:build-classpath -Dmdep.outputFile="$(CURDIR)/$(VENV)/.kafka-classpath"
	@for release in $(KAFKA_RELEASES); do \
	    mvn -q -f benchmarks/kafka-storage.pom.xml -Dkafka.version=$$release dependency:build-classpath -Dmdep.outputFile="$(CURDIR)/$(VENV)/.kafka-storage-$$release" || exit 1; \
	done
	@if [ "$(CARGO)" ]; then $(CARGO) build --quiet --release --locked --manifest-path benchmarks/rust/Cargo.toml --target-dir $(VENV)/.rust; \
	else echo "The Rust crate kafka-protocol takes no part: that needs cargo, and there is none here." >&2; fi
	@$(if $(CARGO),KAFKA_PROTOCOL="$(VENV)/.rust/release/read-log") KAFKA_CLASSPATH="$$(cat $(VENV)/.kafka-classpath)" KAFKA_STORAGE="$(VENV)/.kafka-storage" KAFKA_RELEASES="$(KAFKA_RELEASES)" \
	    $(PYTHON_OF_VENV) -m benchmarks $(BENCH)

$(INSTALLED): requirements.txt requirements.lock pyproject.toml | $(PYTHON_OF_VENV)
	@if [ -e $@ ]; then echo "The lists of packages have changed: bringing $(VENV) up to date."; \
	else echo "Installing into $(VENV): about 1.4 GB, one to two minutes, once."; fi
	@$(INSTALL) -r requirements.lock
	@touch $@

$(COMPILED): $(INSTALLED)
	@echo "Compiling the loops that read bytes, so that the first pages are quick: up to a minute, once."
	-@$(PYTHON_OF_VENV) -m kafkaviz warm
	@touch $@

$(INSTALLED_DEV): requirements-dev.txt $(INSTALLED)
	@echo "Adding what the tests and ruff need to $(VENV): about 220 MB, a few seconds."
	@$(INSTALL) -r requirements-dev.txt
	@touch $@

$(PYTHON_OF_VENV):
	@for python in $(or $(PYTHON),$(PYTHONS)); do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo "kafkaviz needs Python 3.11 or newer, and there is none here (looked for: $(or $(PYTHON),$(PYTHONS)))." >&2; \
	    echo "Install one (Debian, Ubuntu: apt install python3 python3-venv; macOS: brew install python) and run make again." >&2; \
	    exit 1; \
	fi; \
	echo "Making $(VENV) with $$($$found --version)."; \
	$$found -m venv $(VENV) || { \
	    rm -rf $(VENV); \
	    echo "Python could not make a virtual environment; on Debian and Ubuntu: apt install python3-venv" >&2; \
	    exit 1; \
	}
	@$(INSTALL) --upgrade pip
