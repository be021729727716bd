import { assert, describe, it } from "@effect/vitest"
import * as Language from "../../../src/pair/text/Language.ts"
import { hostile } from "./support.ts"
import { effectTest } from "../../support/effectTest.ts"

const test = effectTest(it.effect)

/** Article 1 of the Universal Declaration of Human Rights, first sentence (United Nations, 1948). */
const articles: Readonly<Record<string, string>> = {
  ar: "يولد جميع الناس أحراراً متساوين في الكرامة والحقوق.",
  de: "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
  el: "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
  en: "All human beings are born free and equal in dignity and rights.",
  es: "Todos los seres humanos nacen libres e iguales en dignidad y derechos.",
  fi: "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan.",
  fr: "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
  hi: "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
  it: "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti.",
  ja: "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
  ko: "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
  pl: "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
  ru: "Все люди рождаются свободными и равными в своем достоинстве и правах.",
  th: "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
  tr: "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.",
  zh: "人人生而自由,在尊严和权利上一律平等。",
}

const code = "```python\nfor item in range(10):\n    print(item ** 2)  # all the squares of the numbers\n```"

describe("Language", () => {
  test("tells the language of a sentence, also with code, formulas and addresses beside it", function* () {
    const languageOf = yield* Language.load
    for (const [language, article] of Object.entries(articles)) {
      assert.strictEqual(languageOf(article), language, article)
      assert.strictEqual(
        languageOf(`${article}\n${code}\n$x^2 + y^2 = 1$ https://example.com/some/english/words`),
        language,
      )
    }
  })

  test("does not guess at code, formulas, numbers and a word or less", function* () {
    const languageOf = yield* Language.load
    for (const text of [
      code,
      "2 + 2 = ?",
      "x^2 - 4x + 4 = 0",
      "$\\int_0^1 x^2 \\, dx = \\frac{1}{3}$",
      "#include <stdio.h>\nint main(void) { return 0; }",
      '{"id": 1, "name": "x", "tags": ["a", "b"]}',
      'fn main() { let x: i32 = 5; println!("{}", x); }',
      "C6H12O6 + 6 O2 -> 6 CO2 + 6 H2O",
      "😀😀😀",
      "Hello",
      "12345 67890",
    ]) {
      assert.strictEqual(languageOf(text), Language.undetermined, text)
    }
  })

  test("takes any text, and says the same each time", function* () {
    const languageOf = yield* Language.load
    for (const text of hostile) {
      assert.match(languageOf(text), /^[a-z]{2,3}$/)
      assert.strictEqual(languageOf(text), languageOf(text))
    }
  })
})
