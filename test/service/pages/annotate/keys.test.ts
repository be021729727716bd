import { assert, it } from "@effect/vitest"
import { actionOf, help, type Key, type Where } from "../../../../src/service/pages/annotate/keys.ts"

const key = (name: string, more: Partial<Key> = {}): Key => ({
  key: name,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  repeat: false,
  isComposing: false,
  ...more,
})

it("leaves arrows to what scrolls sideways", () => {
  assert.isNull(actionOf(key("ArrowRight"), "scroller"))
  assert.deepStrictEqual(actionOf(key("2"), "scroller"), { _tag: "digit", digit: 2 })
})

it("chooses, moves, submits, undoes and shows the list", () => {
  assert.deepStrictEqual(actionOf(key("3"), "page"), { _tag: "digit", digit: 3 })
  assert.deepStrictEqual(actionOf(key("ArrowRight"), "page"), { _tag: "move", step: 1 })
  assert.deepStrictEqual(actionOf(key("ArrowLeft"), "control"), { _tag: "move", step: -1 })
  assert.deepStrictEqual(actionOf(key("Enter"), "page"), { _tag: "submit" })
  assert.deepStrictEqual(actionOf(key("u"), "page"), { _tag: "undo" })
  assert.deepStrictEqual(actionOf(key("U"), "page"), { _tag: "undo" })
  assert.deepStrictEqual(actionOf(key("?"), "page"), { _tag: "keys" })
  assert.isNull(actionOf(key("q"), "page"))
})

it("leaves what is typed alone, but for Escape and Ctrl+Enter", () => {
  for (const name of ["1", "u", "Enter", " ", "ArrowLeft", "?", "Backspace"]) {
    assert.isNull(actionOf(key(name), "text"), name)
  }
  assert.deepStrictEqual(actionOf(key("Escape"), "text"), { _tag: "leave" })
  assert.deepStrictEqual(actionOf(key("Enter", { ctrlKey: true }), "text"), { _tag: "submit" })
  assert.deepStrictEqual(actionOf(key("Enter", { metaKey: true }), "text"), { _tag: "submit" })
})

it("leaves Enter and Space to buttons and links", () => {
  assert.isNull(actionOf(key("Enter"), "control"))
  assert.isNull(actionOf(key(" "), "control"))
  assert.deepStrictEqual(actionOf(key("2"), "control"), { _tag: "digit", digit: 2 })
})

it("does nothing with modifiers, in a dialog, or while a character is being composed", () => {
  const all = [...help.flatMap(({ keys }) => keys.flatMap(([names]) => names)), "1", "Enter", "u"]
  for (const name of all) {
    for (const more of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) {
      if (name !== "Enter") assert.isNull(actionOf(key(name, more), "page"), name)
    }
    assert.isNull(actionOf(key(name), "dialog"), name)
    assert.isNull(actionOf(key(name, { isComposing: true }), "text"), name)
  }
  assert.isNull(actionOf(key("Enter", { altKey: true, ctrlKey: true }), "page"))
})

it("submits nothing when a key is held down, but goes on moving", () => {
  for (const where of ["page", "text", "control"] satisfies ReadonlyArray<Where>) {
    assert.isNull(actionOf(key("Enter", { repeat: true, ctrlKey: true }), where))
  }
  assert.isNull(actionOf(key("1", { repeat: true }), "page"))
  assert.isNull(actionOf(key("u", { repeat: true }), "page"))
  assert.deepStrictEqual(actionOf(key("ArrowRight", { repeat: true }), "page"), { _tag: "move", step: 1 })
})

it("lists no key that does nothing", () => {
  const written: Readonly<Record<string, string>> = { Space: " ", "←": "ArrowLeft", "→": "ArrowRight" }
  const listed = help.flatMap(({ keys }) => keys.flatMap(([names]) => names)).filter((name) => name !== "–")
  const dead = listed.filter((name) => actionOf(key(written[name] ?? name), "page") === null)
  assert.deepStrictEqual(dead, [])
})
