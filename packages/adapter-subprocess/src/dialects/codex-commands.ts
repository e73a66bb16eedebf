import { isRecord, type JsonRecord, listOf, textOf } from "@acp-steering/kit/adapter";
import type { CodexCalls } from "./codex-calls.js";

/**
 * Ends commands that an interrupt has left running. A Codex that cannot do it, or has ended them by itself, is not asked
 * again.
 *
 * @param itemIds the items that the commands belong to
 */
export async function endCommands(calls: CodexCalls, threadId: string, itemIds: readonly string[]): Promise<void> {
  if (itemIds.length === 0) return;
  const { data } = await calls.request("thread/backgroundTerminals/list", { threadId }).catch((): JsonRecord => ({}));
  const commands = listOf(data)
    .filter(isRecord)
    .filter(({ itemId }) => itemIds.includes(textOf(itemId)));
  await Promise.allSettled(
    commands.map(({ processId }) => calls.request("thread/backgroundTerminals/terminate", { threadId, processId })),
  );
}
