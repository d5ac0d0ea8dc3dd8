# `make` lists all targets. Only Python 3.11+ and make have to be installed by hand.

PYTHON ?= python3
UV_VERSION := 0.13.8
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -rsfE
# One worker more than cores: some tests always wait for a browser or a server. A file stays in one
# worker, because its tests may share a product; tests/conftest.py sorts slow files first.
WORKERS := -n 3 --dist loadfile --no-loadscope-reorder

export UV_PYTHON_DOWNLOADS := never
# Without a bytecode cache, every process compiles all tests again, which takes it seconds.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help serve test sqlite postgresql journeys proofs faults fuzz setup bench accuracy check lint types style lock clients python-client typescript-client pictures node browser nginx image buildah promtool pgbouncer

help: ## list all targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

serve: .venv/.product ## set everything up and serve the product on http://127.0.0.1:$PORT (8000)
	@exec $(BIN)/python -m config.server.supervisor

# The tests on SQLite wait for browsers and processes; those on PostgreSQL compute in the meantime.
# Each worker takes seconds to start. With one for PostgreSQL, both runs end at about the same time.
test: .venv/.development browser promtool node ## set everything up and run every quick test: SQLite, PostgreSQL, Redis, browser
	@$(MAKE) --no-print-directory -j 2 sqlite postgresql

sqlite:
	$(PYTEST) $(WORKERS)

# Its output comes in one piece, so that the progress of both runs stays legible.
postgresql:
	@output=$$($(BIN)/python -m tests.servers.postgres $(PYTEST) -n 1 \
		-m "not (proof or fault or journey or process or (anywhere and not both))" 2>&1); \
		status=$$?; echo "PostgreSQL:$$output"; exit $$status

journeys: .venv/.development browser ## run all browser journeys, and check the look of every page
	$(PYTEST) $(WORKERS) -m "journey and proof and not fault"

proofs: .venv/.development nginx promtool node ## run slow tests: several processes, the reverse proxy, 10,000 calls through faults
	$(PYTEST) $(WORKERS) -m "proof and not (fault or journey)"

faults: .venv/.development nginx pgbouncer buildah ## run the slowest tests: kills, outages, full disks, upgrades, overload, backups, migrations under load, the image
	$(PYTEST) $(WORKERS) -m fault

image: .venv/.development buildah ## build the container image without Docker, run it, upgrade to it, print its size, memory and start time
	$(PYTEST) -s -m "" tests/operations/test_container_files.py tests/operations/test_image.py

clients: python-client typescript-client ## build the clients, test what was built, and put it into static/clients for customers
	npx --yes pyright@1.1.414 --project clients/python --pythonpath $(BIN)/python

# Python imports a wheel as it is.
python-client: .venv/.development
	@rm -rf clients/python/dist static/clients/*.whl
	$(BIN)/uv build -q --out-dir clients/python/dist clients/python
	@mkdir -p static/clients && cp clients/python/dist/*.whl static/clients/
	$(PYTEST) -m "not proof" -o pythonpath="$$(echo clients/python/dist/*.whl)" tests/clients/python

pictures: .venv/.development browser ## draw the landing page's pictures from the real pages
	PYTHONPATH=clients/python/src $(BIN)/python -m tests.journeys.pictures

typescript-client: .venv/.development node
	@rm -f static/clients/*.tgz
	cd clients/typescript && npm ci --ignore-scripts --no-audit --no-fund && npm run build && npm pack --pack-destination ../../static/clients
	$(PYTEST) -m "not proof" tests/clients/typescript

fuzz: .venv/.development ## run the product against random input, FUZZ_SECONDS (30) for each target on two cores; PostgreSQL
	FUZZ_SECONDS=$${FUZZ_SECONDS:-30} $(BIN)/python -m tests.servers.postgres \
		$(PYTEST) -n 2 --timeout=0 -m "" tests/fuzz tests/credits/wallet/test_any_order.py

setup: .venv/.development ## create .venv with all development tools

bench: .venv/.development ## measure metered calls, starts, batches, pools and lists: tables of docs/performance.md
	$(BIN)/python -m tests.bench api start batches pools lists

accuracy: .venv/.development ## measure the engine's accuracy with the files in DATA, for /docs/accuracy/
	$(BIN)/python -m tests.accuracy $(DATA)

check: lint test journeys ## run what CI runs: lint, test and journeys

# Checking types takes longer than everything else together, and uses one core.
lint: .venv/.development ## check format, lint, spelling, types, import layers, migrations, deploy settings
	@$(MAKE) --no-print-directory -j 2 types style

types:
	$(BIN)/mypy .

# Collecting the tests compiles them, which otherwise each worker does. The types use the other core.
style:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell
	$(BIN)/djade --check --target-version 5.2 $$(git ls-files 'templates/*.html')
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/python -W error manage.py makemigrations --check --dry-run
	$(BIN)/python -m tests.servers.production manage.py check --deploy --fail-level WARNING
	$(BIN)/python -m pytest -qq --collect-only >/dev/null

lock: .venv/bin/uv ## pin the newest versions that pyproject.toml allows, with hashes
	$(BIN)/uv pip compile -q -U --universal --generate-hashes --no-header --no-annotate pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q -U --universal --generate-hashes --no-header --no-annotate pyproject.toml --all-extras -c requirements.lock -o deploy/requirements-extras.lock
	$(BIN)/uv pip compile -q -U --universal --generate-hashes --no-header --no-annotate pyproject.toml --group dev -o requirements-dev.lock

# A page takes the headless shell a third of the CPU time that it takes the whole of Chromium.
browser: ## install Chromium's headless shell for the browser journeys, if it is missing and apt may install it
	@command -v chromium-headless-shell chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& echo "Installing Chromium for the browser journeys…" && apt-get update -qq \
		&& { apt-get install -y -qq chromium-headless-shell || apt-get install -y -qq chromium; } >/dev/null; } || true

# RUNLEVEL=1 installs it without starting it.
nginx: ## install nginx for the reverse proxy tests, if it is missing and apt may install it
	@command -v nginx >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& echo "Installing nginx for the reverse proxy tests…" \
		&& apt-get update -qq && RUNLEVEL=1 apt-get install -y -qq nginx-light >/dev/null; } || true

# bubblewrap starts what buildah builds, on a base that mmdebstrap makes.
buildah: ## install buildah, mmdebstrap and bubblewrap for the image, if one is missing and apt may install it
	@{ command -v buildah && command -v mmdebstrap && command -v bwrap; } >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& echo "Installing buildah, mmdebstrap and bubblewrap for the image…" && apt-get update -qq \
		&& apt-get install -y -qq --no-install-recommends buildah mmdebstrap bubblewrap >/dev/null; } || true

# Only this program of Debian's package, which would also install the server, as a service.
promtool: .venv/bin/uv ## download promtool for the tests of the alerts, if it is missing and apt has it
	@command -v promtool >/dev/null || test -x $(BIN)/promtool || { command -v apt-get >/dev/null && cd $$(mktemp -d) \
		&& echo "Downloading promtool for the tests of the alerts…" \
		&& { [ "$$(id -u)" != 0 ] || apt-get update -qq; } && apt-get download -qq prometheus 2>/dev/null \
		&& dpkg-deb --fsys-tarfile prometheus_*.deb | tar -xO ./usr/bin/promtool >promtool \
		&& install promtool $(CURDIR)/$(BIN)/promtool && rm -r "$$PWD"; } \
		|| echo "promtool is missing, so the alerts are not tested."

node: ## install Node.js for the TypeScript client, if it is missing and apt may install it
	@{ command -v node && command -v npm; } >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& echo "Installing Node.js for the TypeScript client…" \
		&& apt-get update -qq && apt-get install -y -qq nodejs npm >/dev/null; } || true

pgbouncer: ## install PgBouncer for its tests, if it is missing and apt may install it
	@command -v pgbouncer >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& echo "Installing PgBouncer for its tests…" \
		&& apt-get update -qq && RUNLEVEL=1 apt-get install -y -qq pgbouncer >/dev/null; } || true

.venv/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is required. If it has another name: PYTHON=python3.12 make serve"; exit 1; }
	@echo "Creating .venv…"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

.venv/.product: .venv/bin/uv requirements.lock
	@echo "Installing packages…"
	@$(BIN)/uv pip install --quiet --require-hashes -r requirements.lock
	@touch $@

.venv/.development: .venv/bin/uv requirements-dev.lock
	@echo "Installing packages and development tools…"
	@$(BIN)/uv pip sync --quiet --require-hashes requirements-dev.lock
	@touch .venv/.product $@
