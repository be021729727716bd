/** Tells a visitor why nobody is signed in, and what to do. */
import type { SignedOut as Why } from "./annotationState.ts"

const words: Readonly<Record<Why, { readonly title: string; readonly text: ReadonlyArray<string> }>> = {
  never: {
    title: "Open your invitation",
    text: [
      "You are not signed in. Open your invitation link in this browser.",
      "If you have no link, or you used it in another browser, ask the people who run this service for a new link.",
    ],
  },
  ended: {
    title: "Your session has ended",
    text: [
      "Ask the people who run this service for a new link, and open it in this browser.",
      "What you entered last is kept on this device. It reappears if you get the same item after you sign in.",
    ],
  },
  invitation: {
    title: "This invitation cannot be used",
    text: [
      "The link is incomplete, has already been used, has expired, or was replaced by a newer one.",
      "If you opened the link in another browser, continue there. Otherwise, ask the person who sent it for a new link.",
    ],
  },
  left: {
    title: "You are signed out",
    text: ["To come back, ask the people who run this service for a new link, and open it in this browser."],
  },
}

export const SignedOut = ({ why }: { readonly why: Why }) => (
  <main class="stack middle">
    <h1>{words[why].title}</h1>
    {words[why].text.map((text) => (
      <p key={text}>{text}</p>
    ))}
  </main>
)
