// The OpenAI protocol's chat completions on a small model that runs here: node server.mjs MODEL.gguf
// Prints its address once it listens. One request at a time, one thread, deterministic at temperature 0.
import http from "node:http";
import { getLlama, LlamaChatSession } from "node-llama-cpp";

const CONTEXT = 4096;
const LONGEST = 256;
const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: "error" });
const model = await llama.loadModel({ modelPath: process.argv[2] });
const context = await model.createContext({ contextSize: CONTEXT, threads: 1 });
const sequence = context.getSequence();
let last = Promise.resolve();

async function complete(request, onText, signal) {
  const said = (role) => request.messages.filter((one) => one.role === role).map((one) => one.content);
  const prompt = said("user").join("\n\n");
  const schema = request.response_format?.json_schema?.schema;
  const grammar = schema ? await llama.createGrammarForJsonSchema(schema) : undefined;
  const longest = Math.min(request.max_tokens ?? request.max_completion_tokens ?? LONGEST, LONGEST);
  if (model.tokenize(prompt).length > CONTEXT - longest - 512) throw new TooLong();
  const session = new LlamaChatSession({ contextSequence: sequence, systemPrompt: said("system").join("\n") });
  const before = sequence.tokenMeter.getState();
  try {
    const { responseText, stopReason } = await session.promptWithMeta(prompt, {
      grammar, signal, maxTokens: longest, temperature: request.temperature ?? 0, onTextChunk: onText,
    });
    const used = sequence.tokenMeter.diff(before);
    return {
      text: responseText,
      finish: stopReason === "maxTokens" ? "length" : "stop",
      usage: {
        prompt_tokens: used.usedInputTokens,
        completion_tokens: used.usedOutputTokens,
        total_tokens: used.usedInputTokens + used.usedOutputTokens,
      },
    };
  } finally {
    session.dispose();
    await sequence.clearHistory();
  }
}

class TooLong extends Error {}

const server = http.createServer(async (incoming, outgoing) => {
  let body = "";
  for await (const part of incoming) body += part;
  const refuse = (status, message) => {
    outgoing.writeHead(status, { "content-type": "application/json" });
    outgoing.end(JSON.stringify({ error: { message, type: "invalid_request_error" } }));
  };
  if (incoming.method !== "POST" || incoming.url !== "/v1/chat/completions") return refuse(404, "no such path");
  const request = JSON.parse(body);
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const head = { id: "small", created: 0, model: "smollm2-135m-instruct" };
  const event = (choices, more = {}) =>
    outgoing.write(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices, ...more })}\n\n`);
  if (request.stream) outgoing.writeHead(200, { "content-type": "text/event-stream" });
  const onText = request.stream
    ? (content) => event([{ index: 0, delta: { role: "assistant", content }, finish_reason: null }])
    : undefined;
  const mine = last.then(() => (gone.signal.aborted ? null : complete(request, onText, gone.signal)));
  last = mine.catch(() => null);
  try {
    const done = await mine;
    if (done === null) return;
    if (request.stream) {
      event([{ index: 0, delta: {}, finish_reason: done.finish }]);
      event([], { usage: done.usage });
      outgoing.end("data: [DONE]\n\n");
      return;
    }
    const message = { role: "assistant", content: done.text };
    outgoing.writeHead(200, { "content-type": "application/json" });
    outgoing.end(JSON.stringify({
      ...head, object: "chat.completion", usage: done.usage,
      choices: [{ index: 0, message, finish_reason: done.finish }],
    }));
  } catch (error) {
    if (outgoing.headersSent) outgoing.destroy();
    else refuse(error instanceof TooLong ? 400 : 500, String(error.message ?? error));
  }
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
