/** The command lines of the guides, for `Guides.test.ts`: how they are carried out, and all that is replaced in them. */
import { globSync } from "node:fs"
import { root } from "../support/process.ts"
import { secret } from "../support/webhooks.ts"

export const guides = globSync("{CONTRIBUTING,README,{data,docs,docs/moving-in,pipelines,src,src/**,test/*}/*}.md", {
  cwd: root,
}).toSorted()

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

const results: Line = { ends: 0, before: "results" }
const attention: Line = { ends: 0, before: "tasks that need attention", alone: true }
const listening: Line = {
  ends: /Webhooks are received at http:\/\/127\.0\.0\.1:\d+\/webhook/,
  before: "tasks at a service",
  alone: true,
}
const nightly: Line = { ends: 0, before: "a service", repeated: true }
const npm = "npm installs or tests the whole project: CI does (.ci/run). Only its scripts are checked"

const elsewhere = "the storage is real: test/source/place has servers of its protocol"

/** Lines, without their comments, that do not end with 0 as they stand: how each is carried out, or why it cannot be. */
export const lines: { readonly [line: string]: Line | string } = {
  // README.md
  "npm ci && npm start": npm,
  "npm ci && npm test": npm,
  "npx prefstream serve": { ends: /^PREFSTREAM_TOKEN=pst_/m },
  "npx prefstream run items.jsonl --guidelines-file guidelines.md --dir week-48 --once": { ends: 0, repeated: true },
  // CONTRIBUTING.md
  "npm ci": npm,
  "npm test": npm,
  "npm start": npm,
  // docs/moving-in
  "npx prefstream run argilla.json --prompt-path fields.prompt --completion-path fields.response_1 --completion-path fields.response_2 --id-path id --dir moved --once":
    nightly,
  "npx prefstream run label-studio.json --prompt-path data.prompt --completion-path data.answer1 --completion-path data.answer2 --id-path id --dir moved --once":
    nightly,
  "npx prefstream run sheet.csv --dir moved --once": nightly,
  "npx prefstream run items.jsonl --guidelines-file guidelines.md --dir moved --concurrency 8 --once": nightly,
  // data
  "npx prefstream inspect https://data.example/items.jsonl": elsewhere,
  "npx prefstream inspect 's3://bucket/items/*.jsonl.gz'": elsewhere,
  "npx prefstream inspect 'gs://bucket/items/*.jsonl.gz'": elsewhere,
  "npx prefstream verify quickstart/dataset": { ends: 0, before: "a dataset" },
  "npx prefstream export-votes --dir week-48 --pseudonyms > votes.jsonl": results,
  "npx prefstream diff quickstart/dataset week-48": { ends: 1, before: "a dataset" },
  "npx prefstream push quickstart/dataset --repo user/preferences": { ends: 0, before: "a dataset" },
  "npx prefstream export --dir week-48 --split test=0.1 --min-agreement 0.6 --evaluation-prompts arena-hard.jsonl --evaluation-path 'turns[0].content' --drop contamination --drop near-duplicates --threshold longer-chosen=0.7 --threshold near-duplicates=0.05 --format openrlhf --format llamafactory-sharegpt":
    results,
  "npx prefstream leaderboard --dir week-48": results,
  "npx prefstream leaderboard --dir week-48 --control length --weighted": results,
  "npx prefstream leaderboard --dir week-48 --by topic": results,
  "npx prefstream leaderboard week-48/dataset": results,
  // src/cli
  "npx prefstream collect --dir week-48 --once": { ends: 0, repeated: true },
  "npx prefstream config export --dir week-48": results,
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
  "npx prefstream submit items.jsonl --price 0.40 --price judge=0.01 --price specialist=2.50 --budget 5000": {
    ends: 0,
    before: "a service",
  },
  "npx prefstream plan items.jsonl --dir pilot --price 0.40 --target-accuracy 0.95": { ends: 0, before: "a pilot" },
  "npx prefstream submit items.jsonl --votes 2..5 --confidence 0.95": { ends: 0, before: "a service" },
  "npx prefstream submit items.jsonl --votes 1..7 --price 0.40 --budget 1680": { ends: 0, before: "a service" },
  "npx prefstream status": { ends: 3 },
  "npx prefstream ledger check --dir week-48": results,
  "npx prefstream run items.jsonl --dir week-48 --job week-48": { ends: 0, before: "a database" },
  "npx prefstream resolve --dir week-48": { ends: 0, before: "tasks that need attention" },
  "npx prefstream resolve 21 --adopt task_8f3a --dir week-48": attention,
  "npx prefstream resolve 21 41 --send-again --dir week-48": attention,
  "npx prefstream resolve --all failed --give-up --dir week-48": attention,
  "npx prefstream collect --dir week-48 --listen 8485": listening,
  "npx prefstream collect --listen 8485 --webhook-scheme 'header=x-signature; signed={timestamp}.{body}; timestamp=x-timestamp'":
    listening,
  "npx prefstream collect --listen 8485 --webhook-scheme 'stripe; header=x-vendor-signature; tolerance=1h'": listening,
  "prefstream doctor --listen 8485 --webhook-url URL": { ends: 0, before: "a service" },
  // src/telemetry
  "prefstream worker items.jsonl … --monitor 0.0.0.0:9464": { ends: /Worker \S+ of job/, before: "a database" },
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
