/** Forms and their fields. A field keeps its own value. `Form` and `Confirm` read the values by name on submission. */
import type { ComponentChildren, ComponentProps, JSX } from "preact"
import { useContext, useId } from "preact/hooks"
import { maxLength } from "../../pageApi/PageConstants.ts"
import type { Answer } from "../shared/api.ts"
import { Button } from "../shared/Button.tsx"
import { Reload, Say, useAction } from "./hooks.ts"
import { Problem } from "./parts.tsx"
import type { problemWords } from "./wording.ts"

export interface Values {
  readonly raw: (name: string) => string
  readonly text: (name: string) => string
  /** Returns the field's value as a number. NaN if the field is empty or no choice is checked. */
  readonly number: (name: string) => number
  readonly all: (name: string) => ReadonlyArray<string>
}

export const valuesOf = (form: HTMLFormElement): Values => {
  const data = new FormData(form)
  const all = (name: string) => data.getAll(name).map(String)
  const raw = (name: string) => all(name)[0] ?? ""
  const text = (name: string) => raw(name).trim()
  return { all, raw, text, number: (name) => (text(name) === "" ? NaN : Number(text(name))) }
}

interface FormProps<A> {
  readonly label?: string
  readonly class?: string
  readonly submit: string
  readonly submitting?: string
  readonly look?: string
  readonly isUnchanged?: boolean
  readonly ask: (values: Values) => Promise<Answer<A>>
  readonly success?: string | ((value: A, values: Values) => string)
  readonly onDone?: (value: A) => void
  /** If set, the form has a button that closes the form. A successful request also closes the form. */
  readonly onClose?: () => void
  readonly words?: typeof problemWords
  readonly children: ComponentChildren
}

/** A form. After a successful request, its fields are reset and the data on the page is reloaded. */
export const Form = <A,>(props: FormProps<A>) => {
  const { ask, isUnchanged = false, look = "primary", onClose, onDone, submit, submitting = submit, success } = props
  const action = useAction(props.words)
  const say = useContext(Say)
  const reload = useContext(Reload)
  const act = (form: HTMLFormElement) => {
    const values = valuesOf(form)
    void action.run(
      () => ask(values),
      (value) => {
        form.reset()
        if (success !== undefined) say(typeof success === "string" ? success : success(value, values))
        onClose?.()
        onDone?.(value)
        reload()
      },
    )
  }
  const isInLine = props.class?.includes("line-form") === true
  const problem = <Problem words={action.problem} />
  const button = (
    <Button type="submit" look={look} text={action.busy ? submitting : submit} busy={action.busy || isUnchanged} />
  )
  return (
    <form
      class={props.class ?? "stack"}
      aria-label={props.label}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isUnchanged) act(event.currentTarget)
      }}
    >
      {props.children}
      {!isInLine && problem}
      {onClose === undefined ? (
        button
      ) : (
        <div class="row">
          {button}
          <Button text="Cancel" onClick={onClose} />
        </div>
      )}
      {isInLine && problem}
    </form>
  )
}

interface Labeled {
  readonly label: string
  readonly name: string
  readonly value?: string | number | undefined
  readonly fieldClass?: string
}

type Props<Element extends keyof JSX.IntrinsicElements> = Labeled & Omit<JSX.IntrinsicElements[Element], "value">

const labeled = (label: string, fieldClass: string, id: string, field: JSX.Element) => (
  <div class={`stack field ${fieldClass}`}>
    <label for={id}>{label}</label>
    {field}
  </div>
)

export const Field = ({ label, value = "", fieldClass = "", ...input }: Props<"input"> & { readonly id?: string }) => {
  const ownId = useId()
  const { id = ownId } = input
  const attributes: object = { autocomplete: "off", type: "text", ...input }
  return labeled(label, fieldClass, id, <input class="input" id={id} {...attributes} defaultValue={value} />)
}

export const NumberField = (props: ComponentProps<typeof Field> & { readonly min: number; readonly max: number }) => (
  <Field type="number" required {...props} />
)

export const NameField = (
  props: Labeled & { readonly id: string; readonly placeholder: string; readonly title?: string },
) => <Field required pattern={String.raw`.*\S.*`} maxLength={maxLength.name} {...props} />

export const TextArea = ({ label, value = "", fieldClass = "", ...area }: Props<"textarea">) => {
  const id = useId()
  return labeled(label, fieldClass, id, <textarea class="input" id={id} rows={2} {...area} defaultValue={`${value}`} />)
}

export const Select = ({
  label,
  value = "",
  fieldClass = "",
  options,
  ...select
}: Props<"select"> & { readonly options: ReadonlyArray<Option> }) => {
  const id = useId()
  return labeled(
    label,
    fieldClass,
    id,
    <select class="input" id={id} {...(select as object)}>
      {options.map(([option, words]) => (
        <option key={option} value={option} selected={option === String(value)}>
          {words}
        </option>
      ))}
    </select>,
  )
}

export type Option = readonly [value: string, words: string, hint?: JSX.Element | string]

interface ChoicesProps {
  readonly legend: string
  readonly name: string
  readonly value?: string | undefined
  readonly class?: string
  readonly options: ReadonlyArray<Option>
  readonly onChange?: (value: string) => void
}

export const Choices = ({ legend, name, value, class: look = "", options, onChange }: ChoicesProps) => (
  <fieldset class={`choices ${look}`}>
    <legend>{legend}</legend>
    {options.map(([option, words, hint]) => (
      <label key={option}>
        <input
          type="radio"
          name={name}
          value={option}
          required
          defaultChecked={option === value}
          onChange={() => onChange?.(option)}
        />
        <span>
          {words} {hint !== undefined && <span class="muted small">{hint}</span>}
        </span>
      </label>
    ))}
  </fieldset>
)
