/** Shows a conversation turn by turn. JSON is indented. Its numbers and texts do not change. */
import type { Ref } from "preact"
import type { HeldItem } from "../../pageApi/AnnotateApi.ts"
import { RichText } from "../shared/RichText.tsx"
import { indentJson } from "./json.ts"

export type Conversation = NonNullable<HeldItem["turns"]>
type Turn = Conversation[number]

const roles: Readonly<Record<string, string>> = { system: "System", user: "User", assistant: "Assistant", tool: "Tool" }

export const Turns = ({
  turns,
  below,
  list,
}: {
  readonly turns: Conversation
  readonly below: 2 | 3
  readonly list?: Ref<HTMLOListElement>
}) => {
  const Heading = below === 2 ? "h3" : "h4"
  return (
    <ol class="plain-list stack tight turns" ref={list ?? null}>
      {turns.map((turn, i) => (
        <li key={i} class={`turn ${Object.hasOwn(roles, turn.role) ? turn.role : ""}`}>
          {(turn.content !== "" || turn.tool_calls === undefined) && (
            <>
              <Heading class="role">
                <bdi>{nameOf(turn)}</bdi>
                <Id id={turn.tool_call_id} />
              </Heading>
              <Content turn={turn} below={below} />
            </>
          )}
          {turn.tool_calls?.map(({ id, function: { name, arguments: text } }, i) => (
            <div key={i} class="tool-call">
              <Heading class="role">
                {"Assistant calls "}
                <code>
                  <bdi>{name}</bdi>
                </code>
                <Id id={id} />
              </Heading>
              <Json text={text} />
            </div>
          ))}
        </li>
      ))}
    </ol>
  )
}

const nameOf = ({ name, role }: Turn): string => {
  const called = Object.hasOwn(roles, role) ? roles[role]! : role
  return role === "tool" && name !== undefined ? `${called} ${name}` : called
}

const Id = ({ id }: { readonly id: string | undefined }) =>
  id === undefined ? null : (
    <span class="muted">
      {" "}
      <bdi>{id}</bdi>
    </span>
  )

const Content = ({ turn: { content, role }, below }: { readonly turn: Turn; readonly below: 2 | 3 }) => {
  if (content.trim() === "") return <p class="muted">(Empty.)</p>
  return role === "tool" && indentJson(content) !== undefined ? (
    <Json text={content} />
  ) : (
    <RichText text={content} below={below === 2 ? 3 : 4} />
  )
}

const Json = ({ text }: { readonly text: string }) => (
  <pre class="json" tabIndex={0} dir="ltr">
    {indentJson(text) ?? text}
  </pre>
)
