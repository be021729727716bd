/** The words that stand in place of a choice in files: for a tie, for "all are bad", and for no answer. */
const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(" "))

export const ties = wordSet(
  "tie ties tied tieinconsistent draw equal equallygood same thesame aboutthesame both bothgood tiebothgood nopreference",
)
export const allBad = wordSet("bothbad tiebothbad allbad tieallbad equallybad bothequallybad botharebad neitherisgood")
export const noGold = wordSet("none neither null")
export const normalize = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "")
