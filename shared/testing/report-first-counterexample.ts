import fc from 'fast-check';

// fast-check shrinks a counterexample by repeating the property many times. With real servers that takes minutes: the
// test would time out before it reports the counterexample.
fc.configureGlobal({ endOnFailure: true });
