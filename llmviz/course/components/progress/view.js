// Writes down in this browser what was opened and answered; nothing of this is on the screen.

import { unpack } from "../_shared/message.js";
import { noteAnswer, noteOpened } from "../_shared/progress.js";

export default function (component) {
  const { place, question, right } = unpack(component.data);
  if (question === undefined) noteOpened(place);
  else noteAnswer(place, question, right);
}
