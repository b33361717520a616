// SPDX-License-Identifier: MIT
// Browsers start no worker for a page that was opened from a folder, and the search is one. There
// it runs in a hidden frame. (MkDocs Material would fetch such a script from another site.)
"use strict";

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.append(frame);
      this.window = frame.contentWindow;
      this.window.postMessage = (data) =>
        this.dispatchEvent(new MessageEvent("message", {data}));
      this.ready = new Promise((resolve, reject) => {
        const script = this.window.document.createElement("script");
        script.src = url;
        script.onload = resolve;
        script.onerror = reject;
        this.window.document.body.append(script);
      });
    }
    postMessage(data) {
      const Message = this.window.MessageEvent;
      this.ready.then(() => this.window.dispatchEvent(new Message("message", {data})));
    }
    terminate() {
      this.window.frameElement.remove();
    }
  };
}
