"""A coding agent: asks a model, runs its commands in a shell, and hears its user between two steps."""
import asyncio, json, os, sys, urllib.request
URL, KEY = os.environ["OPENAI_BASE_URL"] + "/chat/completions", os.environ["OPENAI_API_KEY"]
TOOLS = [{"type": "function", "function": {"name": "shell", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}}]
messages = []
def tell(type, **fields): print(json.dumps({"type": type, **fields}), flush=True)
def ask_model():
    body = json.dumps({"model": os.environ.get("MODEL", "gpt-5"), "messages": messages, "tools": TOOLS}).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    return json.load(urllib.request.urlopen(urllib.request.Request(URL, body, headers)))["choices"][0]["message"]
async def use_shell(id, command):
    tell("tool", id=id, title=command, kind="execute")
    shell = await asyncio.create_subprocess_shell(command, stdin=-3, stdout=-1, stderr=-2)  # none, a pipe, the same
    try: output = (await shell.communicate())[0].decode(errors="replace")
    finally: shell.returncode is None and shell.kill()
    tell("tool", id=id, status="failed" if shell.returncode else "completed", text=output)
    return {"role": "tool", "tool_call_id": id, "content": output}
async def work(steers):
    while messages[-1]["role"] != "assistant":
        answer = await asyncio.to_thread(ask_model)
        if answer.get("content"): tell("text", text=answer["content"])
        calls = [(call["id"], json.loads(call["function"]["arguments"])) for call in answer.get("tool_calls") or []]
        messages.extend([answer, *[await use_shell(id, arguments["command"]) for id, arguments in calls]])
        for id in [*steers]:
            messages.append({"role": "user", "content": steers.pop(id)})
            tell("delivered", id=id)
def finish(run):
    failure = None if run.cancelled() else run.exception()
    tell("error", message=str(failure)) if failure else tell("done")
async def main():
    lines = asyncio.StreamReader(limit=2**27)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    tell("hello", version=1, name="Python agent", steer="nextStep")
    async for record in (json.loads(line) async for line in lines):
        if record["type"] == "prompt":  # Each run has its own steers: those it does not use come with the next prompt.
            messages.append({"role": "user", "content": record["text"]})
            (run := asyncio.create_task(work(steers := {}))).add_done_callback(finish)
        elif record["type"] == "steer" and not run.done(): steers[record["id"]] = record["text"]
        elif record["type"] == "interrupt": run.cancel()
asyncio.run(main())
