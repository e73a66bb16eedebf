/**
 * A promise that is not waited for for ever.
 *
 * @param milliseconds how long it may take
 * @param late what the error says when it takes longer
 * @throws Error with `late`, or what the promise rejects with
 * @example
 * ```ts
 * await withTimeout(server.listening, 60_000, "it does not listen after 60 s");
 * ```
 */
export async function withTimeout<Value>(promise: Promise<Value>, milliseconds: number, late: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(late)), milliseconds);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}
