// What learns, behind the page: it hears what to do, and tells what came of it. In a worker it goes on
// while the page is hidden; where a browser gives no worker, the page itself does the same in short turns.

import { Learning } from "./learning.js";

// tell: is given each report. Returns what hears a message: `plan` (and `kept`) begins, `going` starts
// and pauses, `rate` is the learning rate from now on.
export function learner(tell, turn = 200) {
  let learning = null;
  let going = false;
  let waiting = 0;
  const next = () => {
    tell(learning.advance(turn));
    waiting = going ? setTimeout(next, 0) : 0;
  };
  return (message) => {
    if (message.plan) tell((learning = new Learning(message.plan, message.kept)).look());
    if (message.rate) learning.rate = message.rate;
    const before = going;
    going = message.going ?? going;
    if (going && !waiting) waiting = setTimeout(next, 0);
    if (going || !before) return;
    clearTimeout(waiting);
    waiting = 0;
    tell(learning.look()); // where it stands now
  };
}

// Run as a worker.
export function serve(scope) {
  const hear = learner((report) => scope.postMessage(report));
  scope.onmessage = ({ data }) => hear(data);
}
