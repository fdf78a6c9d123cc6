import { ErrorCode, NatsError } from 'nats';
import { expect, test } from 'vitest';
import { whileForming } from './while-forming.ts';

const answer = (errCode: number, description: string): NatsError => {
  const error = new NatsError(description, '400');
  error.api_error = { code: 400, err_code: errCode, description };
  return error;
};

test('while forming: work that fails because the cluster is still forming is retried', async () => {
  const failures: Error[] = [
    answer(10_059, 'stream not found'),
    answer(10_005, 'no suitable peers for placement'),
    new NatsError('TIMEOUT', ErrorCode.Timeout),
  ];
  const work = async (): Promise<string> => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    return Promise.resolve('made');
  };
  expect(await whileForming(work)).toBe('made');
  expect(failures).toEqual([]);
});

test('while forming: any other failure is thrown at once', async () => {
  let times = 0;
  const work = (): Promise<never> => {
    times += 1;
    return Promise.reject(answer(10_074, 'replicas > 1 not supported in non-clustered mode'));
  };
  await expect(whileForming(work)).rejects.toThrow('non-clustered');
  expect(times).toBe(1);
});
