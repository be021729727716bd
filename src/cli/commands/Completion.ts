/** `prefstream completion` prints the script with which a shell completes command lines. */
import { Console, Effect } from "effect"
import { Argument, Command, Completions } from "effect/cli"
import { type Definitions, definitionsOf, makeCommand } from "../flags/Definition.ts"
import * as Settings from "../settings/Settings.ts"

const file: Completions.ArgumentType = { _tag: "Path", pathType: "either" }

const typeOf = ({ name, type }: Completions.FlagDescriptor, { [name]: { path, values } = {} }: Definitions) =>
  values !== undefined ? ({ _tag: "Choice", values } as const) : path === "whole" ? file : type

const common = [
  {
    name: "log-format",
    description: "Format of stderr",
    type: { _tag: "Choice", values: ["text", "json"] },
    aliases: [],
  },
  { name: "help", description: "Show help", type: { _tag: "Boolean" }, aliases: [], negation: false },
  {
    name: "help-all",
    description: "Show help with all flags",
    type: { _tag: "Boolean" },
    aliases: [],
    negation: false,
  },
] as const satisfies ReadonlyArray<Completions.FlagDescriptor>

const completed = (all: ReadonlyArray<Command.Command.Any>) => {
  const names = all.map(({ name }) => name)
  const definitions = definitionsOf(all)
  const commands: Completions.ArgumentType = { _tag: "Choice", values: names }
  const argument = (each: Completions.ArgumentDescriptor): Completions.ArgumentDescriptor => ({
    ...each,
    type: each.name === "COMMAND" ? commands : each.type._tag === "String" ? file : each.type,
  })
  const command = (each: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
    ...each,
    flags: [...each.flags.map((flag) => ({ ...flag, type: typeOf(flag, definitions) })), ...common],
    arguments: each.arguments.map(argument),
    subcommands: each.subcommands.map(command),
  })
  const help = { name: "COMMAND", description: "Command", required: false, variadic: false, type: commands }
  const words = { flags: [], arguments: [], subcommands: [] }
  return (root: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
    ...root,
    subcommands: [
      ...root.subcommands.map(command),
      { ...words, name: "help", description: "Show help for a command", arguments: [help] },
      { ...words, name: "version", description: "Show the version" },
    ],
  })
}

const inBash = (script: string): string =>
  script.replaceAll(/_prefstream--paths -[df] "\$cur" "\$_comp_word"/g, "COMPREPLY=()").replace(
    "complete -F _prefstream prefstream",
    `_prefstream--completed()
{
  _prefstream "$@"
  [[ \${#COMPREPLY[@]} == 1 && "\${COMPREPLY[0]}" == *[:=] ]] && compopt -o nospace
}
complete -o default -o bashdefault -F _prefstream--completed prefstream`,
  )

export const command = makeCommand(
  "completion",
  "Print the script that lets a shell complete commands, flags, and flag values.",
  { shell: Argument.Literals("SHELL", ["bash", "zsh", "fish", "powershell"]) },
  Effect.fn("prefstream completion")(function* ({ shell }) {
    const commands = yield* Settings.allCommands
    const root = Command.make("prefstream").pipe(Command.withSubcommands(commands))
    const descriptor = completed(commands)(Completions.fromCommand(root))
    const script = Completions.generate("prefstream", shell, descriptor)
    const named = script.replaceAll("prefstream --completions", "prefstream completion")
    yield* Console.log(shell === "bash" ? inBash(named) : named)
  }),
  { "source <(prefstream completion bash)": "In ~/.bashrc" },
)
