/** One setting the sweep turns. */
export type Knob = {
  /** Variable of the services; `sync` is the log server's own. */
  readonly name: string;
  readonly values: readonly string[];
  readonly byDefault: string;
  /** What it is judged by: events the gateway accepts, or events that arrive at a destination. */
  readonly judgedBy: 'accepted' | 'delivered';
  /** Measured to show its price, and never recommended. */
  readonly isShownOnly?: boolean;
};

const kibibyte = 1024;

/** In the order in which they are turned: each is judged with those before it at their best. */
export const knobs: readonly Knob[] = [
  { name: 'LOG_PARTITIONS', values: ['1', '2', '4', '8'], byDefault: '4', judgedBy: 'delivered' },
  { name: 'PIPELINE_THREADS', values: ['1', '2', '4'], byDefault: '2', judgedBy: 'delivered' },
  { name: 'FRAMES_IN_FLIGHT_MAX', values: ['1', '2', '4'], byDefault: '2', judgedBy: 'accepted' },
  {
    name: 'FRAME_BYTES_MAX',
    values: [128, 512, 1_024].map((size) => String(size * kibibyte)),
    byDefault: String(512 * kibibyte),
    judgedBy: 'accepted',
  },
  { name: 'FRAME_LINGER_MS', values: ['0', '2', '5', '10'], byDefault: '5', judgedBy: 'accepted' },
  { name: 'FRAME_ROUND_MS', values: ['0', '2', '5', '10'], byDefault: '5', judgedBy: 'delivered' },
  { name: 'RESOLVER_TAKE_EVERY_MS', values: ['0', '4', '8'], byDefault: '4', judgedBy: 'delivered' },
  { name: 'RESOLVER_FRAMES_PER_TAKE', values: ['4', '16', '64'], byDefault: '16', judgedBy: 'delivered' },
  { name: 'DISPATCH_LINGER_MS', values: ['0', '5', '20'], byDefault: '5', judgedBy: 'delivered' },
  {
    name: 'sync',
    values: ['always', 'every two minutes'],
    byDefault: 'always',
    judgedBy: 'accepted',
    isShownOnly: true,
  },
];
