package m;

public class Calc {
    public static int twice(int x) {
        if (x == 7) {
            throw new IllegalStateException("seven");
        }
        return 2 * x;
    }
}
