/**
 * Detects the language of a text as an ISO 639-1 code. A text with few words gets the code `und`. Chinese, Japanese,
 * and Korean are detected by script, and all other languages by the n-grams of the package `eld`. Code, formulas, and
 * numbers are ignored. For 2,704 messages of TypeScript's compiler in 13 languages, 96% of the results were right and
 * 3% were `und`. `eld` does not know all languages. For a text in Malay, for example, `eld` returns Indonesian. In our
 * test, `eld/extrasmall` made fewer errors than the next larger set of n-grams, which takes 70 MB more.
 */
import { Effect } from "effect"

/** The code of an undetermined language in ISO 639-2 and BCP 47. */
export const undetermined = "und"

/** Loads the detector, a function that returns the ISO 639-1 code of a text's language, or `undetermined`. */
export const load: Effect.Effect<(text: string) => string> = Effect.map(
  Effect.promise(() => import("eld/extrasmall")),
  ({ eld }) => {
    // A separate instance, because other code could change the settings of the shared instance.
    const detector = eld.newInstance()
    return (text) => {
      const words = wordsOf(text)
      const letters = lettersOf(words)
      if (letters.count < minLetters) return undetermined
      const scripted = languageOfScript(letters)
      if (scripted === "ko" || scripted === "ja") return scripted
      const result = detector.detect(words)
      // The types of the package `eld` do not declare this parameter of `isReliable`.
      const isReliable: (shareOfAverage?: number) => boolean = result.isReliable
      const detected = result.language !== "" && isReliable(minShareOfAverage) ? result.language : undetermined
      // A Japanese heading without kana looks Chinese by its script, but the detector can recognize Japanese.
      return scripted === "zh" && detected !== "ja" ? scripted : detected
    }
  },
)

/** At most this many characters of a text are read. Reading more does not improve the result. */
const maxCharacters = 2000
const maxWordCharacters = 160

/** Minimum score, as a share of the language's average. With `eld`'s default, 0.75, program code counts as Romanian. */
const minShareOfAverage = 0.8

/** Minimum number of letters. With fewer, the result is mostly chance. An ideograph or a kana counts as three. */
const minLetters = 11

/** White space divides a text into parts. Below this share of words among the parts, the text is probably code. */
const minShareOfWords = 0.4

interface Letters {
  readonly count: number
  readonly han: number
  readonly kana: number
  readonly hangul: number
}

const lettersOf = (words: string): Letters => {
  const matches = (pattern: RegExp) => words.match(pattern)?.length ?? 0
  const han = matches(/\p{Script=Han}/gu)
  const kana = matches(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu)
  const hangul = matches(/\p{Script=Hangul}/gu)
  return { count: matches(/\p{L}/gu) + 2 * (han + kana), han, kana, hangul }
}

/** Japanese also uses Han characters, but with kana between them. */
const languageOfScript = ({ count, han, hangul, kana }: Letters): string | undefined => {
  if (hangul > count / 2) return "ko"
  if (3 * (han + kana) <= minShareOfScript * count) return undefined
  return kana > (han + kana) / 10 ? "ja" : "zh"
}

/** Above this share of Han and kana, a text is Chinese or Japanese. A lower share may come from a quotation. */
const minShareOfScript = 0.6

const notWords =
  /```[^]*?(?:```|$)|`[^`\n]*`|\$\$[^$]*\$\$|\$[^$\n]*\$|\\\w+|(?<!\w)\w+:\/\/\S+|(?<![^\s`$])[^\s`$]+@\S+/g

const word =
  /^[\p{Ps}\p{Pi}"'¿¡*]*(?=[\p{L}\p{M}]{2})[\p{L}\p{M}]+(?:['’ʼ\u200c-][\p{L}\p{M}]+)*[\p{Pe}\p{Pf}"'.,;:!?…*،؛؟।]*$/u

/** In these scripts, the text between two spaces is often a whole sentence, which `word` does not match. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

const wordsOf = (text: string): string => {
  const parts = text
    .slice(0, maxCharacters)
    .replace(notWords, " ")
    .split(/\s+/)
    .filter((part) => part !== "")
  const words = parts.flatMap((part) =>
    word.test(part) ? [part] : unspaced.test(part) ? [part.replace(/[!-~]+/g, " ")] : [],
  )
  return words.length < minShareOfWords * parts.length ? "" : words.join(" ").slice(0, maxWordCharacters)
}
