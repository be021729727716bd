/** Formats help: one line per flag, in groups if a command has many flags, wrapped to the width of the terminal. */
import { Array as Arr, Context, Option } from "effect"
import type { FlagDoc, HelpDoc, SubcommandDoc } from "effect/cli/HelpDoc"
import { type Definition, groups, Table } from "./Definition.ts"

export interface Layout {
  readonly columns: number
  readonly isAll: boolean
}

const maxUngrouped = 20

type Row = readonly [name: string, text: string]

const maxColumns = 120
const maxNameColumns = 30
const minTextColumns = 24

const wrapped = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

const rowOf = ({ aliases, description, name, type }: FlagDoc): Row => {
  const words = Option.getOrElse(description, () => "")
  return [
    [`--${name}`, ...aliases].join(", ") + (type === "boolean" ? "" : ` ${name === "log-level" ? "LEVEL" : type}`),
    name !== "log-level" && type.includes("|") ? words.replace(/ \(choices: [^)]*\)$/, "") : words,
  ]
}

const ownRows: ReadonlyArray<Row> = [
  ["--help-all", "Show help with all flags"],
  ["--log-format text|json", "Format of stderr: text, or one JSON object per line [PREFSTREAM_LOG_FORMAT]"],
]

const commandRow = ({ description, name, shortDescription }: SubcommandDoc): Row => [
  name,
  shortDescription ?? description,
]

export const text = (doc: HelpDoc, { columns, isAll }: Layout): string => {
  const width = columns === 0 ? Infinity : Math.min(columns, maxColumns)
  const flags = Arr.map(doc.flags, (flag) => [flag.name, rowOf(flag)] as const)
  const definitions = Context.get(doc.annotations, Table)
  const isGrouped = flags.length > maxUngrouped
  const pick = (isWanted: (name: string) => boolean) => flags.filter(([name]) => isWanted(name)).map(([, row]) => row)
  const own = pick((name) => !isGrouped || definitions[name]?.group === undefined)
  const grouped = isGrouped
    ? Object.keys(groups).map((heading) => {
        const isShown = ({ group, isEssential }: Definition = {}) =>
          group === heading && (isAll || isEssential === true)
        return [heading, pick((name) => isShown(definitions[name]))] as const
      })
    : []
  const hidden = flags.length - own.length - grouped.reduce((sum, [, rows]) => sum + rows.length, 0)
  const command = doc.commandPath?.join(" ") ?? ""

  const sections: ReadonlyArray<readonly [heading: string, rows: ReadonlyArray<Row>]> = [
    [
      "ARGUMENTS",
      (doc.args ?? []).map(({ description, name, required, type, variadic }) => [
        name + (variadic ? "..." : ""),
        Option.getOrElse(description, () => type) + (required ? "" : " (optional)"),
      ]),
    ],
    ["SUBCOMMANDS", (doc.subcommands ?? []).flatMap(({ commands }) => commands.map(commandRow))],
    ["FLAGS", own],
    ...grouped,
    [
      "GLOBAL FLAGS",
      (doc.globalFlags ?? []).flatMap((flag) => (flag.name === "help" ? [rowOf(flag), ...ownRows] : [rowOf(flag)])),
    ],
  ]
  const nameColumns = Math.min(
    Math.max(...sections.flatMap(([, rows]) => rows.map(([name]) => name.length))),
    width === Infinity ? Infinity : maxNameColumns,
  )
  const isNarrow = width - nameColumns - 4 < minTextColumns
  const lines = ([name, text]: Row): ReadonlyArray<string> => {
    if (isNarrow) return [`  ${name}`, ...wrapped(text, width - 6).map((line) => `      ${line}`)]
    const [first = "", ...others] = wrapped(text, width - nameColumns - 4)
    const isLong = name.length > nameColumns
    const indent = " ".repeat(nameColumns + 4)
    return [
      ...(isLong ? [`  ${name}`, `${indent}${first}`] : [`  ${name.padEnd(nameColumns)}  ${first}`]),
      ...others.map((line) => `${indent}${line}`),
    ]
  }
  const blocks = [
    ["DESCRIPTION", ...wrapped(doc.description, width - 2).map((line) => `  ${line}`)],
    ["USAGE", `  ${doc.usage}`],
    ...sections.flatMap(([heading, rows]) => (rows.length === 0 ? [] : [[heading, ...rows.flatMap(lines)]])),
    ...(hidden === 0 ? [] : [[`${hidden} more flags: ${command} --help-all`]]),
    ...(doc.examples === undefined || doc.examples.length === 0
      ? []
      : [
          [
            "EXAMPLES",
            ...doc.examples.flatMap(({ command, description }, i) => [
              ...(i === 0 ? [] : [""]),
              ...(description === undefined ? [] : wrapped(description, width - 4).map((line) => `  # ${line}`)),
              `  ${command}`,
            ]),
          ],
        ]),
  ]
  return blocks.map((block) => block.join("\n")).join("\n\n")
}
