// Writes down in this browser what was opened and answered; nothing of this is on the screen.

import { live } from "../_shared/common.js";
import { noteAnswer, noteOpened } from "../_shared/progress.js";

export default function (component) {
  return live(component, () => new Note());
}

class Note {
  update(data) {
    if (data.question === undefined) noteOpened(data.place);
    else noteAnswer(data.place, data.question, data.right);
  }
}
