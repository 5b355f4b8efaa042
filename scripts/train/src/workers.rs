//! Work shared by threads whose results come in the order of the work, whoever did it.

use std::sync::Mutex;
use std::thread;

/// Does `work` on every item, `threads` at a time, and returns the results in the order of the items.
pub(crate) fn side_by_side<T, R>(
    threads: usize,
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R>
where
    T: Send,
    R: Send,
{
    let queue = Mutex::new(items.enumerate());
    let next = || queue.lock().ok().and_then(|mut items| items.next());
    let share = || -> Vec<(usize, R)> {
        std::iter::from_fn(next).map(|(number, item)| (number, work(item))).collect()
    };
    let mut results = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(share)).collect();
        let mut results = share();
        for other in others {
            match other.join() {
                Ok(more) => results.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_unstable_by_key(|&(number, _)| number);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::side_by_side;

    #[test]
    fn results_come_in_order() {
        for threads in 1..5 {
            let squares = side_by_side(threads, 0..100, |number| number * number);
            assert!(squares.into_iter().eq((0..100).map(|number| number * number)));
        }
    }
}
