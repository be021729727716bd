/** The report's section on splits: their sizes, and the number of near-duplicates across splits. */
import type { QualityReport } from "../../domain/QualityReport.ts"
import { count, name, plural, shareOf } from "./format.ts"
import { Bar, Section, Table, ScreenReaderText, textColumn } from "./parts.tsx"
import { list } from "./wording.ts"

const groupsText = ({ components, field, largest, of, ungrouped }: NonNullable<QualityReport["split_groups"]>) =>
  `Items with the same ${name(field, 40)}, and their near-duplicates, form a group. Each group is in one split. Number of groups: ${count(components)}. The largest has ${shareOf(largest, of)} of the items.${ungrouped === 0 ? "" : ` ${plural(ungrouped, "item")} ${ungrouped === 1 ? "does" : "do"} not have the field.`}`

export const Splits = ({
  report: { cross_split_near_duplicates: crossSplit, split_groups: groups, split_shares: shares, splits },
}: {
  readonly report: QualityReport
}) => {
  const pairs = splits.reduce((sum, split) => sum + split.pairs, 0)
  const items = splits.reduce((sum, split) => sum + split.items, 0)
  if (pairs === 0) return <Section id="splits" title="Splits" lead="There are no pairs to split." />
  const parts = splits.map((split) => `${shareOf(split.pairs, pairs)} ${name(split.split, 20)}`)
  return (
    <Section
      id="splits"
      title="Splits"
      lead={
        splits.length === 1
          ? `The dataset has one split, with ${plural(pairs, "pair")}.`
          : `Pairs: ${list(parts)}. All pairs of an item are in the same split.${groups === null ? "" : ` ${groupsText(groups)}`}${crossSplit === null || crossSplit === 0 ? "" : ` ${plural(crossSplit, "item")} ${crossSplit === 1 ? "is a near-duplicate" : "are near-duplicates"} of an item in another split.`}`
      }
    >
      <Table
        label="Splits"
        class="splits"
        columns={[
          textColumn("Split"),
          "Items",
          "Pairs",
          "Share",
          ...(shares === null ? [] : ["Requested"]),
          textColumn(<ScreenReaderText text="As a bar" />, "bars"),
        ]}
        rows={splits.map((split) => [
          <bdi>{name(split.split, 20)}</bdi>,
          count(split.items),
          count(split.pairs),
          shareOf(split.pairs, pairs),
          ...(shares === null ? [] : [shareOf(shares[split.split] ?? 0, 1)]),
          <Bar value={split.pairs} of={pairs} />,
        ])}
        total={
          splits.length > 1
            ? ["All", count(items), count(pairs), "100%", ...(shares === null ? [] : [""]), ""]
            : undefined
        }
      />
    </Section>
  )
}
