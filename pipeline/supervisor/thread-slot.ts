import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { HostTask } from '../host/host.ts';
import type { HostSettings } from '../host/host-settings.ts';
import type { Command, Report } from '../host/messages.ts';
import { decideRestart } from './restart-policy.ts';

export type ThreadSlotOptions = {
  readonly pool: Piscina;
  readonly settings: HostSettings;
  onReport(report: Report): void;
  /** The host is gone with all its actors; `retryMs` until it starts again. */
  onDead(error: unknown, retryMs: number): void;
};

/** A place for one host: starts it on a thread of the pool, and again when the thread dies. */
export class ThreadSlot {
  readonly #options: ThreadSlotOptions;
  #port: MessagePort | undefined;
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

  /** Tells the host; false when there is none to be told. */
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
      if (report.kind === 'ready') this.#isReady = true;
      onReport(report);
    });
    const task: HostTask = { port: channel.port2, settings };
    let failure: unknown;
    try {
      await pool.run(task, { transferList: [channel.port2] });
      failure = new Error('the host ended by itself');
    } catch (error) {
      failure = error;
    }
    this.#isReady = false;
    channel.port1.close();
    if (this.#isStopping) return;
    const decision = decideRestart(this.#failuresInARow, performance.now() - startedMs, Math.random());
    this.#failuresInARow = decision.failuresInARow;
    onDead(failure, decision.delayMs);
    this.#timer = setTimeout(() => this.start(), decision.delayMs);
  }
}
