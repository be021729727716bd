/** Writes the dataset card. It lists only Parquet files, because `datasets` reads all listed files in one format. */
import { Number, Option, Record } from "effect"
import { parse, stringify } from "yaml"
import * as Judge from "../domain/Judge.ts"
import type { Split } from "../domain/Split.ts"
import { version } from "../node/Version.ts"
import { count, number } from "../io/Values.ts"
import { columnsOf, featuresOf, type Form } from "./Columns.ts"
import type { DatasetFacts } from "./DatasetFacts.ts"
import type { Feature, Features } from "./file/Features.ts"
import type { TrainerFormat } from "./format/TrainerFormat.ts"
import type { Written } from "./Manifest.ts"
import { pathOf } from "./TrainerFiles.ts"

export const fileName = "README.md"

export const make = (
  subject: Written,
  trainerFormats: ReadonlyArray<TrainerFormat>,
  form: Form,
  facts: DatasetFacts,
): string => {
  const formats = trainerFormats.filter((format) => splitsOf(subject, format).length > 0)
  const sections = [
    `# ${facts.name ?? "Preference pairs"}`,
    facts.description,
    ...content(subject),
    ...loading(subject, formats, form),
    ...columns(form),
    ...making(facts),
    ...leftOut(subject),
    ...files(subject, facts),
  ]
  return `---\n${stringify(frontMatter(subject, formats, form, facts), { lineWidth: 0 })}---\n\n${sections
    .filter((section) => section !== undefined && section !== "")
    .join("\n\n")}\n`
}

const frontMatter = (subject: Written, formats: ReadonlyArray<TrainerFormat>, form: Form, facts: DatasetFacts) => ({
  ...(facts.license === undefined ? {} : { license: facts.license }),
  ...(facts.languages === undefined || facts.languages.length === 0 ? {} : { language: facts.languages }),
  ...(facts.name === undefined ? {} : { pretty_name: facts.name }),
  task_categories: ["text-generation"],
  size_categories: [sizeCategory(subject.rows)],
  tags: [...new Set(["preference", "rlhf", ...(facts.tags ?? [])])],
  configs: [
    {
      config_name: "default",
      default: true,
      data_files: subject.splits.map(({ split }) => ({ split, path: `data/${split}-*` })),
    },
    ...formats.filter(isParquet).map((format) => ({
      config_name: format.name,
      data_files: splitsOf(subject, format).map((split) => ({ split, path: pathOf(format, split) })),
    })),
  ],
  dataset_info: {
    features: featureList(featuresOf(form)),
    ...sizes(subject),
  },
})

export const sizes = ({ files, splits }: Pick<Written, "files" | "splits">) => ({
  splits: splits.map(({ bytes, rows, split }) => ({ name: split, num_bytes: bytes, num_examples: rows })),
  download_size: Number.sumAll(files.filter(({ path }) => path.startsWith("data/")).map(({ bytes }) => bytes)),
  dataset_size: Number.sumAll(splits.map(({ bytes }) => bytes)),
})

const FrontMatter = /^---\n(.*?\n)---\n/s

export const readFrontMatter = (card: string): Option.Option<unknown> =>
  Option.fromNullishOr(FrontMatter.exec(card)?.[1]).pipe(Option.flatMap(Option.liftThrowable((text) => parse(text))))

const splitsOf = ({ files, splits }: Written, format: TrainerFormat): ReadonlyArray<Split> =>
  splits
    .map(({ split }) => split)
    .filter((split) => files.some(({ path, rows }) => path === pathOf(format, split) && (rows ?? 0) > 0))

const isParquet = ({ container }: TrainerFormat) => container === "parquet"

const featureList = (features: Features): ReadonlyArray<unknown> =>
  Record.toEntries(features).map(([name, feature]) => ({ name, ...featureOf(feature) }))

const featureOf = (feature: Feature): object => {
  if (typeof feature === "string") return { dtype: feature }
  if ("struct" in feature) return { struct: featureList(feature.struct) }
  const { list } = feature
  if (typeof list === "string") return { list }
  return { list: "struct" in list ? featureList(list.struct) : featureOf(list) }
}

const content = ({ rows, splits }: Written) => [
  `${count(rows, "preference pair")}: prompts, each with a preferred and a rejected completion. Written by prefstream ${version}.`,
  table(
    ["split", "pairs"],
    splits.map(({ rows, split }) => [split, number(rows)]),
  ),
]

const loading = (subject: Written, formats: ReadonlyArray<TrainerFormat>, form: Form) => {
  const [split = "train"] = subject.splits.map(({ split }) => split)
  const rowsOf = new Map(subject.formats.map(({ format, rows }) => [format, rows]))
  const lines = formats.filter((format) => !isParquet(format))
  const hasCalls = form.tools !== undefined && form.shape === "conversational"
  const whole = `load_dataset("path/to/this/folder", split="${split}")`
  return [
    "## Loading",
    hasCalls ? python([`dataset = ${whole}.with_transform(as_messages)`], asMessages) : python([whole]),
    form.shape === "standard"
      ? "`prompt`, `chosen`, and `rejected` are text: TRL's standard preference format with an explicit prompt. A conversation prompt is rendered as text, and each message follows a line with its role in brackets."
      : "`prompt`, `chosen`, and `rejected` are lists of messages: TRL's conversational preference format with an explicit prompt.",
    ...(form.tools === undefined
      ? []
      : form.shape === "standard"
        ? [
            "A tool call is rendered as text, with the tool's name in brackets above the arguments. `tools` is JSON text, which TRL reads.",
          ]
        : [
            "In Parquet, all messages have the same fields. If a message has no value for a field, such as `tool_calls`, the field is null. The `arguments` of a tool call are JSON text, because tools differ in the names of their arguments. The function `as_messages` above removes the nulls and parses the JSON text, as chat templates require. `tools` is JSON text, which TRL reads.",
          ]),
    ...(formats.length === 0
      ? []
      : [
          "The same pairs in trainer formats:",
          table(
            ["folder", "rows", "for"],
            formats.map(({ description, name }) => [`\`formats/${name}\``, number(rowsOf.get(name) ?? 0), description]),
          ),
        ]),
    ...formats.filter(isParquet).map(({ name }) => python([`load_dataset("path/to/this/folder", "${name}")`])),
    ...(lines.length === 0
      ? []
      : [
          python(
            lines.map(
              (format) => `load_dataset("json", data_files="${pathOf(format, splitsOf(subject, format)[0]!)}")`,
            ),
          ),
        ]),
    ...(hasCalls && lines.some(({ reads }) => reads?.includes("tool_calls"))
      ? [
          "In JSON Lines, each message contains only its own fields. Version 4.7 and later of the Python library `datasets` read tool calls as they are in the file. Earlier versions add the fields of all other messages to every message, with the value null.",
        ]
      : []),
  ]
}

const columns = (form: Form) => [
  "## Columns",
  table(
    ["column", "type", "meaning"],
    columnsOf(form).map(({ description, feature, name }) => [`\`${name}\``, typeName(feature), description]),
  ),
]

const typeName = (feature: Feature): string => {
  if (typeof feature === "string") return feature
  return "list" in feature ? `list of ${typeName(feature.list)}` : `\`{${Object.keys(feature.struct).join(", ")}}\``
}

const making = ({ counts, guidelines, inputs, judges, methods, service, settings }: DatasetFacts) => {
  const place = [service?.name, service?.url].filter((part) => part !== undefined).join(", ")
  const who = judges === undefined ? "" : Judge.describe(judges)
  const parts = [
    ...(who === "" && place === ""
      ? []
      : [`Judged${who === "" ? "" : ` by ${who}`}${place === "" ? "" : ` at ${place}`}.`]),
    ...(guidelines === undefined ? [] : ["Guidelines for the experts:", quoted(guidelines)]),
    ...(methods ?? []).flatMap(({ text, title }) => [`### ${title}`, text]),
    ...(counts === undefined || Record.isEmptyRecord(counts)
      ? []
      : [
          "### Counts",
          table(
            ["", ""],
            Record.toEntries(counts).map(([name, count]) => [name, number(count)]),
          ),
        ]),
    ...(inputs === undefined || inputs.length === 0
      ? []
      : [
          "### Inputs",
          table(
            ["file", "records", "SHA-256, or the server's ETag and Last-Modified"],
            inputs.map(({ etag, file, last_modified, records, sha256 }) => [
              file,
              records === undefined ? "unknown" : number(records),
              [sha256, etag, last_modified]
                .flatMap((value) => (value === undefined ? [] : [`\`${value}\``]))
                .join(", "),
            ]),
          ),
        ]),
    ...(settings === undefined || Record.isEmptyRecord(settings)
      ? []
      : [
          "### Settings",
          table(
            ["setting", "value"],
            Record.toEntries(settings).map(([name, value]) => [name, `\`${JSON.stringify(value)}\``]),
          ),
        ]),
  ]
  return parts.length === 0 ? [] : ["## How the dataset was made", ...parts]
}

const leftOut = ({ formats, omitted }: Written) => {
  const rows = [
    ...(omitted.count === 0 ? [] : [["all files", number(omitted.count), omitted.first[0]?.reason ?? ""]]),
    ...formats
      .filter(({ omitted }) => omitted.count > 0)
      .map(({ format, omitted }) => [`\`formats/${format}\``, number(omitted.count), omitted.first[0]?.reason ?? ""]),
  ]
  return rows.length === 0
    ? []
    : ["## Left out", "Pairs that could not be written:", table(["files", "pairs", "example"], rows)]
}

const files = ({ files }: Written, { settings }: DatasetFacts) => [
  "## Files",
  [
    "- `data`: the pairs as Parquet; `jsonl`: the same rows as JSON Lines",
    ...files
      .filter(({ path, rows }) => rows === null && !path.startsWith("formats/"))
      .map(({ path }) => `- [${path}](${encodeURI(path)})`),
    "- [manifest.json](manifest.json): contents and sources of the folder, with the SHA-256 of every file; `prefstream verify` checks the folder against this manifest",
    ...(settings === undefined
      ? []
      : [
          "- If you have the votes (exported with `prefstream export-votes --pseudonyms`; they are not in this folder), `prefstream verify . --from-votes votes.jsonl` rebuilds the rows with the settings above, and compares the bytes",
        ]),
  ].join("\n"),
]

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n")

const cell = (text: string) => text.replaceAll("|", "\\|").replace(/\s*[\r\n]+\s*/g, " ")

const quoted = (text: string) => text.replace(/^/gm, "> ")

const asMessages = `def as_messages(value):
    if isinstance(value, list):
        return [as_messages(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: json.loads(each) if name == "arguments" else as_messages(each)
        for name, each in value.items()
        if each is not None
    }`

const python = (calls: ReadonlyArray<string>, definition?: string) =>
  [
    "```python",
    ...(definition === undefined ? [] : ["import json", ""]),
    "from datasets import load_dataset",
    "",
    ...(definition === undefined ? [] : ["", definition, "", ""]),
    ...calls,
    "```",
  ].join("\n")

const sizeCategory = (rows: number): string => {
  if (rows < 1e3) return "n<1K"
  const bounds = ["1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T"]
  const at = Math.min(Math.floor(Math.log10(rows)) - 3, bounds.length - 1)
  return at === bounds.length - 1 ? "n>1T" : `${bounds[at]}<n<${bounds[at + 1]}`
}
