/**
 * Writes the reference of the command line from the help of each command: what it does, its own flags, the names of the
 * flags that it shares with other commands, its examples. Flags that several commands have follow once, by group.
 */

interface Line {
  readonly command: string
  readonly group: string
  readonly head: string
  readonly description: string
}

const linesOf = (command: string, help: string): ReadonlyArray<Line> => {
  let group = ""
  return help.split("\n").flatMap((line) => {
    group = /^[A-Z][A-Z ]+$/.exec(line)?.[0] ?? group
    const [, head, description = ""] = /^ {2}(--\S+(?:, -\w)?(?: \S+)*) {2,}(.*)$/.exec(line) ?? []
    return head === undefined || group === "GLOBAL FLAGS" ? [] : [{ command, group, head, description }]
  })
}

/** The section of a command's help, without its title. */
const section = (help: string, title: string): string =>
  help
    .split(/\n\n(?=[A-Z][A-Z ]+\n)/)
    .find((text) => text.startsWith(`${title}\n`))
    ?.slice(title.length + 1)
    .trimEnd() ?? ""

const listOf = (lines: ReadonlyArray<Line>): string => {
  const width = Math.max(...lines.map(({ head }) => head.length))
  return lines.map(({ head, description }) => `  ${head.padEnd(width)}  ${description}`).join("\n")
}

const name = ({ head }: Line) => head.split(/[ ,]/, 1)[0] ?? ""

/** Words on lines of at most 116 characters, after an indent. */
const wrapped = (words: ReadonlyArray<string>): string =>
  words.reduce((text, word) => {
    const last = text.slice(text.lastIndexOf("\n") + 1)
    return last.length + word.length < 116 ? `${text} ${word}` : `${text}\n    ${word}`
  })

export const reference = (helps: ReadonlyMap<string, string>): string => {
  const all = [...helps].flatMap(([command, help]) => linesOf(command, help))
  const places = Map.groupBy(all, ({ head, description }) => `${head}  ${description}`)
  const isShared = ({ head, description }: Line) => (places.get(`${head}  ${description}`) ?? []).length > 1
  // A small command lists as FLAGS what larger ones have in a group.
  const groupOf = (line: Line) =>
    places.get(`${line.head}  ${line.description}`)?.find(({ group }) => group !== "FLAGS")?.group ?? "OTHER"
  const once = [...places.values()].flatMap(([first]) => (first !== undefined && isShared(first) ? [first] : []))
  const shared = Map.groupBy(once, groupOf)
  const namesOf = (flags: ReadonlyMap<string, ReadonlyArray<Line>>): ReadonlyArray<string> => {
    const isWhole = ([group, lines]: readonly [string, ReadonlyArray<Line>]) =>
      lines.length === shared.get(group)?.length && lines.length > 3
    const whole = [...flags].filter(isWhole).map(([group]) => group)
    const others = [...flags].filter((group) => !isWhole(group))
    return [
      ...(whole.length === 0 ? [] : [`  all of ${whole.join(", ")}`]),
      ...others.map(([group, lines]) => wrapped([`  ${group}:`, ...lines.map(name)])),
    ]
  }

  const commands = [...helps].map(([command, help]) => {
    const lines = all.filter((line) => line.command === command)
    const own = lines.filter((line) => !isShared(line))
    const others = Map.groupBy(lines.filter(isShared), groupOf)
    const present = (texts: ReadonlyArray<string>, between: string) => texts.filter((text) => text !== "").join(between)
    const parts = [
      present([section(help, "USAGE").trim(), section(help, "ARGUMENTS").replaceAll(/(?<=\S) {2,}/g, "  ")], "\n"),
      present([own.length > 0 ? listOf(own) : "", ...namesOf(others)], "\n"),
      section(help, "EXAMPLES"),
    ]
    const text = present(parts, "\n\n")
    return `\n### ${command}\n\n${section(help, "DESCRIPTION").trim().replaceAll(/ +$/gm, "")}\n\n\`\`\`text\n${text}\n\`\`\`\n`
  })
  const groups = [...shared].map(([group, lines]) => `${group}\n${listOf(lines)}`)
  return [...commands, `\n### Flags of several commands\n\n\`\`\`text\n${groups.join("\n\n")}\n\`\`\`\n`].join("")
}
