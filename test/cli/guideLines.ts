/** The command lines of the guides, for `Guides.test.ts`: how each is carried out, and all that is replaced in them. */
import { secret } from "../support/webhooks.ts"

export const guides = [
  "README.md",
  "CONTRIBUTING.md",
  "data/README.md",
  "docs/moving-in/argilla.md",
  "docs/moving-in/label-studio.md",
  "docs/moving-in/p-limit.md",
  "docs/moving-in/spreadsheet.md",
  "pipelines/README.md",
  "src/README.md",
  "src/cli/README.md",
  "src/pair/README.md",
  "src/pipeline/README.md",
  "src/service/README.md",
  "src/task/README.md",
  "src/task/ledger/README.md",
  "src/task/webhook/README.md",
  "src/telemetry/README.md",
  "test/bench/README.md",
  "test/package/README.md",
]

/** What is carried out before a line, in its folder. */
export type Before =
  | "a service"
  | "a dataset"
  | "results"
  | "a pilot"
  | "tasks that need attention"
  | "tasks at a service"
  | "a database"

export interface Line {
  /** The exit status, or what a command that does not end says, on stdout or stderr, before it is stopped. */
  readonly ends: number | RegExp
  readonly before?: Before
  /** Repeated until it exits with that status: experts take their time. */
  readonly repeated?: true
  /** An alternative to the lines before it: it has a folder of its own. */
  readonly alone?: true
}

const ok: Line = { ends: 0 }
const nightly: Line = { ends: 0, before: "a service", repeated: true }
const npm = "npm installs or tests the whole project: CI does (.ci/run). Only its scripts are checked"

const elsewhere = "the storage is real: test/source/place has servers of its protocol"

/** A line, without its comment, and how it is carried out; or why it cannot be. */
export const lines: { readonly [line: string]: Line | string } = {
  // README.md
  "npm ci && npm start": npm,
  "npm ci && npm test": npm,
  "npx prefstream run node_modules/prefstream/data/sample.jsonl --expert gold:node_modules/prefstream/data/sample.jsonl --dir quickstart":
    ok,
  "npx prefstream inspect items.jsonl": ok,
  "npx prefstream init items.jsonl": ok,
  "npx prefstream run items.jsonl --expert longest --dir trial": ok,
  "npx prefstream serve": { ends: /^PREFSTREAM_TOKEN=pst_/m },
  "npx prefstream run items.jsonl --guidelines-file guidelines.md --dir week-48 --once": { ends: 0, repeated: true },
  "npx prefstream status --dir week-48": ok,
  "prefstream run pipelines/quickstart.ts": ok,
  // CONTRIBUTING.md
  "npm ci": npm,
  "npm test": npm,
  "npm start": npm,
  // docs/moving-in
  "npx prefstream import argilla.json --dir moved": ok,
  "npx prefstream import label-studio.json --dir moved": ok,
  "npx prefstream import sheet.csv --choice-path Anna --choice-path Ben --dir moved": ok,
  "npx prefstream import votes.jsonl --dir moved-before": ok,
  "npx prefstream inspect sheet.csv": ok,
  "npx prefstream export --dir moved": ok,
  "npx prefstream export --dir moved-before": ok,
  "npx prefstream export-votes --dir moved --as csv > votes.csv": ok,
  "npx prefstream run argilla.json --prompt-path fields.prompt --completion-path fields.response_1 --completion-path fields.response_2 --id-path id --dir moved --once":
    nightly,
  "npx prefstream run label-studio.json --prompt-path data.prompt --completion-path data.answer1 --completion-path data.answer2 --id-path id --dir moved --once":
    nightly,
  "npx prefstream run sheet.csv --dir moved --once": nightly,
  "npx prefstream run items.jsonl --guidelines-file guidelines.md --dir moved --dry-run --price 0.05": ok,
  "npx prefstream run items.jsonl --guidelines-file guidelines.md --dir moved --concurrency 8 --once": nightly,
  "npx prefstream status --dir moved": ok,
  // data
  "npx prefstream inspect https://data.example/items.jsonl": elsewhere,
  "npx prefstream inspect 's3://bucket/items/*.jsonl.gz'": elsewhere,
  "npx prefstream inspect 'gs://bucket/items/*.jsonl.gz'": elsewhere,
  "npx prefstream inspect hf://datasets/user/prompts": ok,
  "npx prefstream inspect hf://datasets/user/prompts@v2/data/train.parquet": ok,
  "npx prefstream inspect hf://datasets/user/prompts@refs/convert/parquet/default": ok,
  "npx prefstream inspect answers.csv.gz": ok,
  "npx prefstream validate answers.csv.gz": ok,
  "npx prefstream run alpaca.parquet --prompt-path '{instruction}\\n\\n{input}'": ok,
  "npx prefstream run qa.jsonl --prompt-path '{context}\\n\\n{question}'": ok,
  "npx prefstream run qa.jsonl --prompt-path question --ignore-field context": ok,
  "npx prefstream run samples.jsonl --layout long --key question_id --completion-path 'choices[0].text' --model-path model":
    ok,
  "npx prefstream run pairs.csv --prompt-path input --completion-path output_1 --completion-path output_2 --gold-path label":
    ok,
  "npx prefstream verify quickstart/dataset": { ends: 0, before: "a dataset" },
  "npx prefstream export-votes --dir week-48 --pseudonyms > votes.jsonl": { ends: 0, before: "results" },
  "npx prefstream verify week-48/dataset --from-votes votes.jsonl": ok,
  "npx prefstream diff quickstart/dataset week-48": { ends: 1, before: "a dataset" },
  "npx prefstream push quickstart/dataset --repo user/preferences": { ends: 0, before: "a dataset" },
  "npx prefstream export --dir week-48 --split test=0.1 --min-agreement 0.6 --evaluation-prompts arena-hard.jsonl --evaluation-path 'turns[0].content' --drop contamination --drop near-duplicates --threshold longer-chosen=0.7 --threshold near-duplicates=0.05 --format openrlhf --format llamafactory-sharegpt":
    { ends: 0, before: "results" },
  "npx prefstream import votes.jsonl --dir judged": ok,
  "npx prefstream import testset.json --choice-path annotator1 --choice-path annotator2 --choice-path annotator3 --dir judged":
    ok,
  "npx prefstream import labels.jsonl --choice-map '0=first,1=second,2=tie' --dir judged": ok,
  "npx prefstream export --dir judged": ok,
  "npx prefstream export-votes --dir judged > votes.jsonl": ok,
  "npx prefstream leaderboard --dir week-48": { ends: 0, before: "results" },
  "npx prefstream leaderboard --dir week-48 --control length --weighted": { ends: 0, before: "results" },
  "npx prefstream leaderboard --dir week-48 --by topic": { ends: 0, before: "results" },
  "npx prefstream leaderboard week-48/dataset": { ends: 0, before: "results" },
  // src/cli
  "npx prefstream run items.jsonl --dir week-48": ok,
  "npx prefstream run question.jsonl --completions answers/gpt-3.5.jsonl --completions answers/gpt-4.jsonl --key question_id --prompt-path 'turns[0].content' --completion-path 'choices[0].turns[0].content' --dir arena":
    ok,
  "npx prefstream run items.jsonl --dir week-48 --expert longest --dry-run": ok,
  "npx prefstream submit items.jsonl --dir week-48": ok,
  "npx prefstream collect --dir week-48 --once": { ends: 0, repeated: true },
  "npx prefstream export --dir week-48": ok,
  "prefstream init items.jsonl": ok,
  "npx prefstream config": ok,
  "npx prefstream config export --dir week-48": { ends: 0, before: "results" },
  "source <(prefstream completion bash)": ok,
  "prefstream config --schema": ok,
  'prefstream completion zsh > "${fpath[1]}/_prefstream"': ok,
  "prefstream completion fish > ~/.config/fish/completions/prefstream.fish": ok,
  "prefstream help COMMAND": ok,
  // src/pipeline
  "prefstream run items --dir job --once": { ends: 0, before: "a service", repeated: true },
  "prefstream schedule --cron '0 2 * * *' --time-zone Europe/Berlin -- run items --dir job --once": {
    ends: /next run at \S+T02:00:00/,
    before: "a service",
  },
  "npx prefstream worker items.jsonl --job week-48": { ends: /Worker \S+ of job week-48/, before: "a database" },
  "prefstream status --json": { ends: 3, before: "tasks at a service" },
  // src/service
  "npx prefstream serve --votes 3": { ends: /^PREFSTREAM_TOKEN=pst_/m },
  "npx prefstream serve --public-url https://annotate.example": { ends: /https:\/\/annotate\.example\// },
  "PREFSTREAM_JUDGE_BASE_URL=http://127.0.0.1:11434/v1 npx prefstream run items.jsonl --expert judge:qwen2.5:7b": ok,
  "PREFSTREAM_JUDGE_BASE_URL=http://127.0.0.1:11434/v1 npx prefstream run items.jsonl --expert judge:qwen2.5:7b --judge-cache answers.db --judge-price qwen2.5:7b=0.15/0.60":
    ok,
  "PREFSTREAM_JUDGE_BASE_URL=http://127.0.0.1:11434/v1 npx prefstream run items.jsonl --expert judge:qwen2.5:7b --expert judge:gemma3:12b --expert judge:llama3.1:8b --votes 3":
    ok,
  "npx prefstream run items.jsonl --base-url http://127.0.0.1:8484/v1 --guidelines-file guidelines.md --rubric rubric.yaml":
    { ends: 0, before: "a service" },
  "npx prefstream doctor --try-task new": "test/cli/ServiceProtocol.test.ts sends one to such a service",
  "npx prefstream run items.jsonl": "test/cli/ServiceProtocol.test.ts runs at such a service",
  "(umask 077 && sqlite3 prefstream-service.db \"VACUUM INTO 'copy.db'\")":
    "sqlite3 need not be installed: test/service/Restart.test.ts has Node carry it out",
  "npx prefstream evaluate week-48/dataset --scores scores.jsonl --split test": "test/cli/Evaluate.test.ts has scores",
  "npx prefstream evaluate week-48/dataset --scores http://127.0.0.1:8000/pooling --model my-reward":
    "test/cli/Evaluate.test.ts asks such an endpoint",
  "npx prefstream evaluate week-48/dataset --scores scores.jsonl --disputed next.jsonl --report scored.html":
    "test/cli/Evaluate.test.ts has scores",
  // src/pair
  "npx prefstream run items.jsonl --votes 3..6 --people-when 'jury<0.9' --price 0.30 --price judge=0.005":
    "test/cli/Routing.test.ts runs it at a service with judges and people",
  "npx prefstream audit --dir week-48": { ends: 1, before: "results" },
  "npx prefstream audit --dir week-48 --by topic": { ends: 1 },
  "npx prefstream audit --dir week-48 --price 0.40 --price judge=0.01 --within 0.01": { ends: 1 },
  // src/task
  "npx prefstream submit items.jsonl --votes 3 --price 0.40 --budget 5000 --dry-run": ok,
  "npx prefstream submit items.jsonl --votes 3 --price 0.40 --budget 5000": ok,
  "npx prefstream submit items.jsonl --price 0.40 --price judge=0.01 --price specialist=2.50 --budget 5000": {
    ends: 0,
    before: "a service",
  },
  "npx prefstream plan items.jsonl --accuracy 0.8 --price 0.40 --target-accuracy 0.95": ok,
  "npx prefstream plan items.jsonl --dir pilot --price 0.40 --target-accuracy 0.95": { ends: 0, before: "a pilot" },
  "npx prefstream submit items.jsonl --votes 2..5 --confidence 0.95": { ends: 0, before: "a service" },
  "npx prefstream submit items.jsonl --votes 1..7 --price 0.40 --budget 1680": { ends: 0, before: "a service" },
  "npx prefstream status": { ends: 3 },
  "npx prefstream ledger check --dir week-48": { ends: 0, before: "results" },
  "npx prefstream ledger backup week-48.backup.db --dir week-48": ok,
  "npx prefstream ledger prune --before 90d --results --dir week-48": ok,
  "npx prefstream ledger compact --dir week-48": ok,
  "npx prefstream run items.jsonl --dir week-48 --job week-48": { ends: 0, before: "a database" },
  "npx prefstream resolve --dir week-48": { ends: 0, before: "tasks that need attention" },
  "npx prefstream resolve 21 --adopt task_8f3a --dir week-48": {
    ends: 0,
    before: "tasks that need attention",
    alone: true,
  },
  "npx prefstream resolve 21 41 --send-again --dir week-48": {
    ends: 0,
    before: "tasks that need attention",
    alone: true,
  },
  "npx prefstream resolve --all failed --give-up --dir week-48": {
    ends: 0,
    before: "tasks that need attention",
    alone: true,
  },
  "npx prefstream collect --dir week-48 --listen 8485": {
    ends: /Webhooks are received at http:\/\/127\.0\.0\.1:\d+\/webhook/,
    before: "tasks at a service",
  },
  "npx prefstream collect --listen 8485 --webhook-scheme 'header=x-signature; signed={timestamp}.{body}; timestamp=x-timestamp'":
    {
      ends: /Webhooks are received at http:\/\/127\.0\.0\.1:\d+\/webhook/,
      before: "tasks at a service",
    },
  "npx prefstream collect --listen 8485 --webhook-scheme 'stripe; header=x-vendor-signature; tolerance=1h'": {
    ends: /Webhooks are received at http:\/\/127\.0\.0\.1:\d+\/webhook/,
    before: "tasks at a service",
    alone: true,
  },
  "prefstream doctor --listen 8485 --webhook-url URL": { ends: 0, before: "a service" },
  // src/telemetry
  "prefstream worker items.jsonl … --monitor 0.0.0.0:9464": { ends: /Worker \S+ of job/, before: "a database" },
  "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 prefstream run items.jsonl": ok,
  "prefstream resolve --json": { ends: 0, before: "tasks at a service" },
}

/** The servers of this machine. */
export interface Servers {
  readonly baseUrl: string
  readonly token: string
  readonly judge: string
  readonly collector: string
  readonly database: string
  /** A free port. */
  readonly port: number
}

/** All that is replaced in a line. */
export const substitutions = (servers: Servers): ReadonlyArray<readonly [string | RegExp, string]> => [
  [/http:\/\/127\.0\.0\.1:8484\/v1|https:\/\/annotation\.example\/v1|(?<=PREFSTREAM_BASE_URL=)…/, servers.baseUrl],
  ["PREFSTREAM_TOKEN=…", `PREFSTREAM_TOKEN=${servers.token}`],
  ["whsec_…", secret],
  [/postgres:\/\/etl@db\.example\/preferences(\?sslmode=require)?/, servers.database],
  [" PGPASSWORD=…", ""],
  ["http://127.0.0.1:11434/v1", servers.judge],
  ["http://collector:4318", servers.collector],
  ["user/preferences", "ada/preferences"],
  ["items.jsonl … --monitor 0.0.0.0:9464", "items.jsonl --monitor 0"],
  [
    "--listen 8485 --webhook-url URL",
    `--listen ${servers.port} --webhook-url http://127.0.0.1:${servers.port}/webhook`,
  ],
  ["--listen 8485", "--listen 0"],
  [/prefstream serve/, "prefstream serve --port 0"],
  ["COMMAND", "run"],
]
