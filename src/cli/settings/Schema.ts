/** The JSON Schema of `prefstream.yaml`, for editors. */
import { type Command, Completions } from "effect/cli"
import { definitionsOf } from "../flags/Definition.ts"

const text = { type: ["string", "number"] }

const maps = {
  json: { type: "object" },
  numbers: { type: "object", additionalProperties: { type: "number" } },
  prices: { type: "object", required: ["default"], additionalProperties: text },
}

const typeOf = ({ type }: Completions.FlagDescriptor) => {
  if (type._tag === "Boolean") return { type: "boolean" }
  if (type._tag === "Choice") return { enum: type.values }
  return type._tag === "Int" ? { type: "integer" } : text
}

const flagsOf = (command: Completions.CommandDescriptor): ReadonlyArray<Completions.FlagDescriptor> => [
  ...command.flags,
  ...command.subcommands.flatMap(flagsOf),
]

export const schemaOf = (commands: ReadonlyArray<Command.Command.Any>) => {
  const definitions = definitionsOf(commands)
  const flags = commands.flatMap((command) => flagsOf(Completions.fromCommand(command)))
  const settingOf = (flag: Completions.FlagDescriptor) => {
    const { isRepeatable, map } = definitions[flag.name] ?? {}
    const one = typeOf(flag)
    const others = [...(isRepeatable ? [{ type: "array", items: one }] : []), ...(map === undefined ? [] : [maps[map]])]
    return { description: flag.description, ...(others.length === 0 ? one : { anyOf: [one, ...others] }) }
  }
  const properties = Object.fromEntries([
    ["files", { description: "Input files, or a pipeline file", anyOf: [text, { type: "array", items: text }] }],
    ...flags
      .toReversed()
      .filter(({ name }) => definitions[name]?.isTypedOnly !== true)
      .map((flag) => [flag.name, settingOf(flag)] as const),
  ])
  const references = Object.keys(properties).map((name) => [name, { $ref: `#/$defs/settings/properties/${name}` }])
  const sections = commands.filter(({ name }) => !(name in properties))
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "prefstream.yaml",
    type: "object",
    properties: Object.fromEntries([
      ...references,
      ...sections.map(({ name }) => [name, { $ref: "#/$defs/settings" }]),
    ]),
    additionalProperties: false,
    $defs: { settings: { type: "object", properties, additionalProperties: false } },
  }
}
