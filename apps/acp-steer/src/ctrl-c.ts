/** npm passes a Ctrl-C on that the terminal has sent already: two signals this close are one press. */
const ONE_PRESS_MS = 500;

/** Aborts on Ctrl-C. A second press ends at once, with that exit code. */
export function signalOfCtrlC(exitCode: number): AbortSignal {
  const controller = new AbortController();
  let pressedAt = Number.POSITIVE_INFINITY;
  const press = (): void => {
    if (performance.now() - pressedAt > ONE_PRESS_MS) process.exit(exitCode);
    pressedAt = Math.min(pressedAt, performance.now());
    controller.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, press);
  // Nobody reads the table any more.
  process.stdout.on("error", () => controller.abort());
  process.stderr.on("error", () => {});
  return controller.signal;
}
