// A secret that stays in this browser, in a cookie until it is closed; nothing of this is on the screen.

import { live } from "../_shared/common.js";

export default function (component) {
  return live(component, (root, send) => new BrowserSecret(send));
}

class BrowserSecret {
  constructor(send) {
    this.send = send;
  }

  update(data) {
    const start = `${data.name}=`;
    const kept = document.cookie.split("; ").find((part) => part.startsWith(start));
    if (!kept) {
      const secure = location.protocol === "https:" ? "; Secure" : "";
      // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs https, a class often has http.
      document.cookie = `${start}${data.secret}; path=/; SameSite=Strict${secure}`;
    } else if (kept !== start + data.secret) {
      // Another window was faster.
      this.send("kept", kept.slice(start.length));
    }
  }

  destroy() {}
}
