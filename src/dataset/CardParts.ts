/** Parts of the card. `test/dataset/Card.test.ts` runs the Python code in them. */

export const asMessages = `def as_messages(value):
    if isinstance(value, list):
        return [as_messages(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: json.loads(each) if name == "arguments" else as_messages(each)
        for name, each in value.items()
        if each is not None
    }`

export const python = (calls: ReadonlyArray<string>, definition?: string) =>
  [
    "```python",
    ...(definition === undefined ? [] : ["import json", ""]),
    "from datasets import load_dataset",
    "",
    ...(definition === undefined ? [] : ["", definition, "", ""]),
    ...calls,
    "```",
  ].join("\n")

export const sizeCategory = (rows: number): string => {
  if (rows < 1e3) return "n<1K"
  const bounds = ["1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T"]
  const at = Math.min(Math.floor(Math.log10(rows)) - 3, bounds.length - 1)
  return at === bounds.length - 1 ? "n>1T" : `${bounds[at]}<n<${bounds[at + 1]}`
}
