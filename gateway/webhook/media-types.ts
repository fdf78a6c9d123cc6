import type { Exchange } from '../http/exchange.ts';

export const formType = 'application/x-www-form-urlencoded';
export const multipartType = 'multipart/form-data';

/** The type of a request's body, without its parameters. */
export const mediaTypeOf = ({ head }: Exchange): string =>
  head.contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
