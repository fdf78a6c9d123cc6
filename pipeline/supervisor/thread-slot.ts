import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { createBlackBox } from '../threads/black-box.ts';
import { cpuUseOf } from '../../shared/runtime/cpu-use.ts';
import type { HostTask } from '../threads/host.ts';
import type { HostSettings } from '../threads/host-settings.ts';
import type { Command, Report } from '../threads/messages.ts';
import type { FramesAtWork } from '../workers/worker/suspicion.ts';
import { decideRestart } from './restart-policy.ts';
import { watchSilence } from './silence-watch.ts';
import type { SilenceWatch } from './silence-watch.ts';

/** The members of the pool that a slot uses. */
export type ThreadPool = Pick<Piscina, 'run'> & {
  readonly threads: readonly { readonly threadId: number; terminate(): Promise<unknown> }[];
};

export type ThreadDeath = {
  readonly error: unknown;
  /** Delay before the thread restarts, in ms. */
  readonly retryMs: number;
  /** Mark of the actor whose turn it was; 0 if no actor had its turn. */
  readonly lastTurn: number;
  /** Whether the supervisor ended the thread because it no longer reported. */
  readonly wasSilent: boolean;
  /**
   * Frames that this actor was working on, if they may have caused the death: the thread hung or exhausted its memory.
   */
  readonly lastFrames: FramesAtWork | undefined;
};

export type ThreadSlotOptions = {
  readonly pool: ThreadPool;
  readonly settings: HostSettings;
  /** A host that could report but is silent for this long, in ms, counts as hung and is ended with its thread. */
  readonly silenceMaxMs: number;
  onReport(report: Report): void;
  /** Called when the host has ended, and all its actors with it. */
  onDead(death: ThreadDeath): void;
};

/** Slot for one host: starts it on a thread of the pool, and restarts it when the thread dies. */
export class ThreadSlot {
  readonly #options: ThreadSlotOptions;
  #port: MessagePort | undefined;
  #threadId: number | undefined;
  #watch: SilenceWatch | undefined;
  /** Whether the thread was ended because it no longer reported. */
  #wasSilent = false;
  #isReady = false;
  #isStopping = false;
  #failuresInARow = 0;
  #timer: NodeJS.Timeout | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: ThreadSlotOptions) {
    this.#options = options;
  }

  get thread(): number {
    return this.#options.settings.thread;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  start(): void {
    this.#ended = this.#run();
  }

  /** Sends to the host; false if no host runs. */
  tell(command: Command): boolean {
    const port = this.#port;
    if (!this.#isReady || port === undefined) return false;
    port.postMessage(command);
    return true;
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    // A host that is still starting is ended with its thread.
    if (this.tell({ kind: 'shutdown', deadlineMs })) await this.#ended;
  }

  async #run(): Promise<void> {
    const { pool, settings, onReport, onDead } = this.#options;
    const startedMs = performance.now();
    const channel = new MessageChannel();
    this.#port = channel.port1;
    channel.port1.on('message', (report: Report) => {
      this.#watch?.heard();
      if (report.kind === 'ready') this.#ready(report);
      onReport(report);
    });
    this.#wasSilent = false;
    const blackBox = createBlackBox();
    const task: HostTask = { port: channel.port2, blackBox: blackBox.memory, settings };
    let failure: unknown;
    try {
      await pool.run(task, { transferList: [channel.port2] });
      failure = new Error('the thread ended without an error');
    } catch (error) {
      failure = error;
    }
    this.#watch?.stop();
    this.#isReady = false;
    channel.port1.close();
    if (this.#isStopping) return;
    const decision = decideRestart(this.#failuresInARow, performance.now() - startedMs, Math.random());
    this.#failuresInARow = decision.failuresInARow;
    const { lastTurn } = blackBox;
    const wasSilent = this.#wasSilent;
    // Frames are suspected only after a hang or exhausted memory; any other death may have been caused from outside.
    const lastFrames = wasSilent || isOutOfMemory(failure) ? blackBox.lastFrames : undefined;
    onDead({ error: failure, retryMs: decision.delayMs, lastTurn, wasSilent, lastFrames });
    this.#timer = setTimeout(() => this.start(), decision.delayMs);
  }

  /** Watches for silence from here on: a host that is ready reports every second, but its start may take any time. */
  #ready({ threadId, taskId }: Extract<Report, { kind: 'ready' }>): void {
    this.#isReady = true;
    this.#threadId = threadId;
    this.#watch = watchSilence({
      silenceMaxMs: this.#options.silenceMaxMs,
      waitedMs: () => cpuUseOf(taskId).waitedMs,
      onSilent: () => this.#terminate(),
    });
  }

  /** Ends a thread whose event loop has stopped; its task then rejects. */
  #terminate(): void {
    this.#wasSilent = true;
    const thread = this.#options.pool.threads.find(({ threadId }) => threadId === this.#threadId);
    void thread?.terminate();
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
