/**
 * The last gate before rendered text enters the page.
 *
 * Guarantees: of HTML, only the elements and attributes listed here remain; links lead out, to
 * another tab, and carry no referrer; nothing is loaded, run or styled. The result is nodes, not
 * a string, so that the page needs no sink for strings: it works under
 * `require-trusted-types-for 'script'` with DOMPurify's own policy.
 */
import DOMPurify from "dompurify"

const purify = DOMPurify(window)

const tags =
  "a blockquote br code del div em h3 h4 h5 h6 hr li ol p pre s span strong table tbody td th thead tr ul".split(" ")
const attributes = ["class", "dir", "href", "rel", "start", "target", "title"]
const classes = /^(hljs(-[\w-]+)?|language-[\w+#.-]{1,40}|heading-[1-6]|align-(left|center|right)|image|wide|\w+_)$/

purify.addHook("uponSanitizeAttribute", (_element, data) => {
  if (data.attrName === "class") {
    data.attrValue = data.attrValue
      .split(/\s+/)
      .filter((name) => classes.test(name))
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

export const sanitise = (html: string): DocumentFragment =>
  purify.sanitize(html, {
    RETURN_DOM_FRAGMENT: true,
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: attributes,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    // DOMPurify holds each attribute against this expression that it isn't told is no address.
    ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
    ADD_URI_SAFE_ATTR: attributes.filter((name) => name !== "href"),
  })
