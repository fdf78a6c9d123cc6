import { kafkaProtocol } from './kafka.ts';
import type { Protocol } from './protocol.ts';
import { redisProtocol } from './redis.ts';
import { smtpProtocol } from './smtp.ts';

/** Every protocol besides HTTP. */
export const protocols: readonly Protocol[] = [kafkaProtocol, redisProtocol, smtpProtocol];
