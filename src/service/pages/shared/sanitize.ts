/**
 * Sanitizes rendered text. Only the elements and attributes listed here remain. SVG and styles remain only in formulas,
 * and each style is checked. The result is DOM nodes, which `require-trusted-types-for 'script'` allows.
 */
import DOMPurify from "dompurify"
import { allowedImages } from "./allowedImages.ts"
import { isShown, resolve } from "./images.ts"

const purify = DOMPurify(window)

const tags =
  "a blockquote br code del div em h3 h4 h5 h6 hr img li ol p pre s span strong table tbody td th thead tr ul".split(
    " ",
  )
const attributes = "alt aria-hidden aria-label class dir href loading rel role start target title".split(" ")
const classes =
  /^(hljs(-[\w-]+)?|language-[\w+#.-]{1,40}|heading-[1-6]|align-(left|center|right)|formula|image|katex|katex-display|wide|\w+_)$/

/** Elements and attributes that only KaTeX writes. */
const shapes = ["svg", "path", "line"]
const shapeAttributes = "d height preserveAspectRatio stroke-width viewBox width x1 x2 y1 y2".split(" ")
/** The class `text` is excluded, because the pages use it and KaTeX does not. */
const katexClasses = /^(?!text$)[a-z][\w-]*$/i

const length = String.raw`-?\d*\.?\d+(em|px|%)?`
const boxes = `height|width|min-width|top|bottom|left|vertical-align|margin(-left|-right|-top)?|padding-left|border(-top|-right|-bottom)?-width|text-shadow`
const declarations = new RegExp(
  `^((${boxes}):(${length}( ${length}){0,2}|calc\\(100% - ${length}\\))|(background-|border-)?color:([a-z]+|#[\\da-f]{3,8})|border(-right)?-style:(solid|dashed)|position:relative)$`,
  "i",
)

purify.addHook("uponSanitizeAttribute", (element, data) => {
  if (data.attrName === "src") {
    data.keepAttr = element.nodeName === "IMG" && isShown(data.attrValue, allowedImages)
    data.attrValue = resolve(data.attrValue)
  }
  if (data.attrName === "class") {
    const allowedClasses = element.closest(".katex") === null ? classes : katexClasses
    data.attrValue = data.attrValue
      .split(/\s+/)
      .filter((name) => allowedClasses.test(name))
      .join(" ")
    data.keepAttr = data.attrValue !== ""
  }
})

purify.addHook("afterSanitizeAttributes", (element) => {
  if (element.nodeName !== "A") return
  if (!element.hasAttribute("href")) return
  element.setAttribute("target", "_blank")
  element.setAttribute("rel", "noopener noreferrer nofollow")
})

const style = (element: HTMLElement | SVGElement) => {
  for (const declaration of element.dataset["style"]?.split(";") ?? []) {
    const [property = "", value = ""] = declaration.split(":")
    if (declarations.test(declaration)) element.style.setProperty(property, value)
  }
}

export const sanitize = (html: string): DocumentFragment => {
  const fragment = purify.sanitize(html, {
    RETURN_DOM_FRAGMENT: true,
    ALLOWED_TAGS: [...tags, ...shapes],
    ALLOWED_ATTR: [...attributes, ...shapeAttributes, "data-style", "src"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    // DOMPurify checks every attribute with this expression, except those in `ADD_URI_SAFE_ATTR`.
    ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
    ADD_URI_SAFE_ATTR: [...attributes, ...shapeAttributes, "data-style"].filter((name) => name !== "href"),
  })
  for (const element of fragment.querySelectorAll("svg:not(.katex svg)")) element.remove()
  for (const element of fragment.querySelectorAll<HTMLElement | SVGElement>("[data-style]")) {
    if (element.closest(".katex") !== null) style(element)
    delete element.dataset["style"]
  }
  return fragment
}
