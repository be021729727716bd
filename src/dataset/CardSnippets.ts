/** Python in the card. `test/dataset/Card.test.ts` runs the first snippet of a card. */

/** Undoes what Parquet needs: nulls, and arguments as text. Nulls within arguments stay. */
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

/** @param definition a function that the calls use, and that needs `json` */
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
